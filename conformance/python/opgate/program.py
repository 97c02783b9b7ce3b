"""`opgate` as pip installs it: runs the program in this package, with this interpreter for Python checks."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path


def main() -> None:
    """Replaces this process with the program. Exits with 2 where torch is not the one it was built with."""
    program = Path(__file__).parent / "bin" / "opgate"
    built_with = (Path(__file__).parent / "torch-version").read_text().strip()
    try:
        present = metadata.version("torch").partition("+")[0]
    except metadata.PackageNotFoundError:
        present = "none"
    if present != built_with:
        print(
            f"opgate: this OpGate was built with torch {built_with}, and {sys.executable} has {present}; "
            "install OpGate again, from the folder of its clone: "
            "pip install --force-reinstall --no-deps --no-build-isolation .",
            file=sys.stderr,
        )
        sys.exit(2)
    os.environ.setdefault("OPGATE_PYTHON", sys.executable)
    os.execv(program, ["opgate", *sys.argv[1:]])
