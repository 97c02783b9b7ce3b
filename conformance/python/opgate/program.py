"""`opgate` as pip installs it: runs the engine's program, with this interpreter for Python checks."""

from __future__ import annotations

import os
import sys

from opgate.engines.choice import PACKAGE, NoEngineError, engine_for, supported_torch


def main() -> None:
    """Replaces this process with the program. Exits with 2 if no engine fits the torch that is here."""
    if sys.argv[1:2] == ["engine"]:  # without an engine there is no other program
        from opgate.engines.command import main as engine

        sys.exit(engine(sys.argv[2:]))
    try:
        torch = supported_torch()
        folder = engine_for(torch)
    except NoEngineError as error:
        print(f"opgate: {error}", file=sys.stderr)
        sys.exit(2)
    os.environ.setdefault("OPGATE_PYTHON", sys.executable)
    if torch.folder.parent != PACKAGE.parent:
        # The program finds torch's libraries beside this package; elsewhere the loader has to be asked.
        present = [folders] if (folders := os.environ.get("LD_LIBRARY_PATH")) else []
        os.environ["LD_LIBRARY_PATH"] = os.pathsep.join([str(torch.folder / "lib"), *present])
    os.execv(folder / "bin" / "opgate", ["opgate", *sys.argv[1:]])
