"""What the program asks of a module of OpGate that it starts, as a JSON object; see run/programs.h."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def asked() -> dict[str, Any]:
    """Reads the request from a file that is open already: the module's argument is its number."""
    with os.fdopen(int(sys.argv[1])) as file:
        request: dict[str, Any] = json.load(file)
    return request


def carry_out(run: Callable[[dict[str, Any]], int | None], *mistakes: type[Exception]) -> int:
    """Runs what is asked for. Returns its exit status, or 2 after one of these mistakes of the user."""
    try:
        return run(asked()) or 0
    except mistakes as error:
        print(f"opgate: {error}", file=sys.stderr)
        return 2
