"""`opgate` as pip installs it: runs the engine's program, with this interpreter for Python checks."""

from __future__ import annotations

import os
import sys

from opgate.engines.choice import PACKAGE, NoEngineError, engine_for, supported_torch
from opgate.engines.torch_here import Torch


def main() -> None:
    """Replaces this process with the program. Exits with 2 if no engine fits the torch that is here."""
    if sys.argv[1:2] == ["engine"]:  # without an engine there is no other program
        from opgate.engines.command import main as engine

        sys.exit(engine(sys.argv[2:]))
    try:
        torch = supported_torch()
        demand_one_torch(torch)
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


def demand_one_torch(torch: Torch) -> None:
    """Raises NoEngineError if another torch lies beside this package: the program would load that one."""
    beside = PACKAGE.parent / "torch"
    if (beside / "lib").is_dir() and not beside.samefile(torch.folder):
        raise NoEngineError(
            f"there are two torches: Python imports {torch.folder}, and {beside} lies beside OpGate, whose "
            "libraries the program would load. Remove one of them, or install OpGate beside the first"
        )
