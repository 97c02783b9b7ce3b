"""What the program asks of a module of OpGate that it starts, as a JSON object; see run/python/programs.h."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def asked() -> dict[str, Any]:
    """Reads the request from a file that is open already: the module's argument is its number."""
    with os.fdopen(int(sys.argv[1])) as file:
        request: dict[str, Any] = json.load(file)
    return request
