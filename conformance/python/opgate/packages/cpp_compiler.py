"""The C++ compiler that torch's compiler needs on this machine."""

from __future__ import annotations

import os
import shlex
import shutil


def compiler() -> str | None:
    """The compiler that torch would call; None if it is not there."""
    command = shlex.split(os.environ.get("CXX") or "g++")[:1]
    return shutil.which(command[0]) if command else None


def missing_compiler() -> str:
    """Why nothing can be compiled here; empty if the compiler that torch would call is there."""
    if compiler():
        return ""
    named = os.environ.get("CXX")
    which = f"the C++ compiler {named}, which CXX names," if named else "the C++ compiler g++"
    return f"{which} is not installed here, and torch's compiler needs it; set CXX to one that is"
