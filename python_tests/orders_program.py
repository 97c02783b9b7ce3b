"""fixtures/programs/orders.cu below `opgate sim`: kernels whose mistakes depend on the order of blocks."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from harness import Completed, OpGate


@dataclass(frozen=True)
class OrdersProgram:
    """Runs a case of the program."""

    opgate: OpGate
    program: Path
    folder: Path

    def __call__(self, name: str, *options: str) -> Completed:
        return self.opgate("sim", "--tool", "race", *options, "--", self.program, name, folder=self.folder)

    def repeat(self, run: Completed, *, with_option: str = "--") -> Completed:
        """With the command that the run names, which must have this option."""
        command = re.search(r"^   repeat   opgate (.*)$", run.stderr, re.M)
        assert command, run
        words = shlex.split(command[1])
        assert with_option in words, run
        return self.opgate(*words, folder=self.folder)
