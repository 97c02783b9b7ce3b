"""Finds which kernels of torch's operators the project's libraries and modules replace at a dispatch key.

Reads {"key", "libraries", "modules"}, and prints {OPERATOR: PLACE}: where each kernel was registered.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

from opgate.modules.registration import places
from opgate.request import UserError, asked, status_of
from opgate.worker.setting_up import load_libraries, load_modules


def find(request: dict[str, Any]) -> int:
    """Prints the kernels that loading the project has replaced or added."""
    key = request["key"]
    before = places(key)
    with contextlib.redirect_stdout(sys.stderr):
        waiting = load_libraries(request["libraries"])
        load_modules(request["modules"])
        failures = load_libraries(waiting)
    if failures:
        raise UserError(next(iter(failures.values())))
    kernels = {name: place for name, place in places(key).items() if before.get(name) != place}
    print(json.dumps(kernels))
    return 0


if __name__ == "__main__":
    sys.exit(status_of(lambda: find(asked())))
