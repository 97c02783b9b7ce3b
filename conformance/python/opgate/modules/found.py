"""Where Python finds modules now, without importing them, for `opgate gate --results`.

Reads {"listed": [NAME, ...], "others": [NAME, ...]} from its argument: the modules that opgate.toml lists,
and others that a run has imported. Prints {NAME: FILE}: all modules of the packages of the former, and those
of the latter that are found.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec

from opgate.modules.sources import module_files


def find(name: str) -> ModuleSpec | None:
    """What find_spec() returns, which would import the packages that the module is in."""
    parts = name.split(".")
    found = find_spec(parts[0])
    for end in range(2, len(parts) + 1):
        if found is None or found.submodule_search_locations is None:
            return None
        found = PathFinder.find_spec(".".join(parts[:end]), list(found.submodule_search_locations))
    return found


def found_modules(listed: list[str], others: list[str]) -> dict[str, str]:
    """By name: the files of these modules."""
    specs = {name: find(name) for name in others}
    found = {name: spec.origin for name, spec in specs.items() if spec and spec.has_location and spec.origin}
    return found | module_files(listed)


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    print(json.dumps(found_modules(request["listed"], request["others"])))
