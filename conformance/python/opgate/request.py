"""What the program asks of a module of OpGate that it starts, as a JSON object; see run/python/programs.h."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any


class UserError(Exception):
    """Something that the user must fix; the message says what."""


def asked() -> dict[str, Any]:
    """Reads the request from a file that is open already: the module's argument is its number."""
    with os.fdopen(int(sys.argv[1])) as file:
        request: dict[str, Any] = json.load(file)
    return request


def status_of(work: Callable[[], int | None]) -> int:
    """The exit status of the work; 2 if it raises a UserError, which is printed; 1 if its output is cut."""
    try:
        return work() or 0
    except UserError as error:
        print(f"opgate: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # what is printed is not read any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
