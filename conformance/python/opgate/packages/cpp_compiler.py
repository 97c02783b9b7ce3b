"""The C++ compiler that torch's compiler needs on this machine."""

from __future__ import annotations

import os
import shlex
import shutil


def missing_compiler() -> str:
    """Why nothing can be compiled here; empty if the compiler that torch would call is there."""
    named = os.environ.get("CXX")
    command = shlex.split(named or "g++")[:1]
    if command and shutil.which(command[0]):
        return ""
    which = f"the C++ compiler {named}, which CXX names," if named else "the C++ compiler g++"
    return f"{which} is not installed here, and torch's compiler needs it; set CXX to one that is"
