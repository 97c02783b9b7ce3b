"""Tries how the modules that a recorded program used are imported, for `opgate record`.

Reads {"modules": [{"name", "root"}], "before": [{"name", "root"}], "environment": {...}} from its argument;
`root` is the folder in which Python finds the module. Prints {"modules": [...], "python_path": [...],
"environment": {...}, "failed": {name: why}}: what opgate.toml must list so that a new process has the same
operators and fake kernels. Where an import fails, it is tried again with the variables that the program set,
and after each module of the program itself (`before`), which may prepare what the import needs.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

SECONDS = 100  # for one process that imports the modules


def import_all(modules: list[dict[str, str]]) -> dict[str, Any]:
    """Imports the modules in this process; returns those that are needed, their folders, and what failed."""
    import torch  # noqa: F401  (as workers do first: extension modules need its libraries)

    given = forget_given_path()
    needed: list[str] = []
    folders: list[str] = []
    failed: dict[str, str] = {}
    for module in modules:
        name, root = module["name"], module["root"]
        if name in sys.modules:
            continue  # another one imports it
        if not is_found(name, root):
            sys.path.append(root)
            folders.append(root)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                folders += folders_for_import(name, given)
            needed.append(name)
        except (Exception, SystemExit) as error:  # a user's module may raise anything while it is imported
            failed[name] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return {"modules": needed, "python_path": folders, "failed": failed}


def folders_for_import(name: str, given: list[str]) -> list[str]:
    """Imports the module. Returns those folders of `given` that its own imports need.

    They are moved from `given` to sys.path. Raises what the import raises.
    """
    needed: list[str] = []
    while True:
        try:
            importlib.import_module(name)
            return needed
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            holding = [folder for folder in given if PathFinder.find_spec(package, [folder])]
            if not holding:
                raise
            given.remove(holding[0])
            sys.path.append(holding[0])
            needed.append(holding[0])


def forget_given_path() -> list[str]:
    """Removes what the caller's PYTHONPATH added to sys.path: later runs may be without it.

    Its first entry is OpGate's own. Returns what was removed.
    """
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)[1:]
    given = [str(Path(entry).resolve()) for entry in entries if entry]
    sys.path[:] = [entry for entry in sys.path if str(Path(entry).resolve()) not in given]
    return given


def is_found(name: str, root: str) -> bool:
    """Whether Python finds the module in that folder by itself."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    places = [spec.origin, *(spec.submodule_search_locations or [])] if spec else []
    return any(place and Path(place).is_relative_to(root) for place in places)


def in_new_process(modules: list[dict[str, str]], environment: dict[str, str]) -> dict[str, Any]:
    """import_all() in a process with these variables. A process that dies or hangs has failed to import."""
    command = [sys.executable, "-P", "-m", "opgate.modules.recorded", "--import", json.dumps(modules)]
    try:
        done = subprocess.run(
            command, env=os.environ | environment, stdout=subprocess.PIPE, timeout=SECONDS, check=False
        )
        return json.loads(done.stdout) | {"environment": environment}
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        why = {module["name"]: "the process that imported it ended or hung" for module in modules}
        return {"modules": [], "python_path": [], "failed": why, "environment": environment}


def tried(request: dict[str, Any]) -> dict[str, Any]:
    """The first attempt in which fewest imports fail."""
    wanted = request["modules"]
    best = in_new_process(wanted, {})
    attempts: list[tuple[list[dict[str, str]], dict[str, str]]] = []
    if best["failed"]:
        changed = request["environment"]
        attempts += [([], {name: value}) for name, value in list(changed.items())[:8]]
        attempts += [([module], {}) for module in request["before"][:8]]
        attempts += [([module], changed) for module in request["before"][:8] if changed]
    for before, environment in attempts:
        again = in_new_process([*before, *wanted], environment)
        if len(again["failed"]) < len(best["failed"]):
            best = again
        if not best["failed"]:
            break
    return best


if __name__ == "__main__":
    if sys.argv[1] == "--import":
        print(json.dumps(import_all(json.loads(sys.argv[2]))), flush=True)
        os._exit(0)  # without the exit handlers of what was imported
    print(json.dumps(tried(json.loads(sys.argv[1]))))
