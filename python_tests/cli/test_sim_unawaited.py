"""Programs that wait for their kernels without a function of CUDA, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


@pytest.mark.parametrize(
    ("how", "result"),
    [
        ("function", "42\n"),
        ("callback", "42\n"),
        ("looks", "42\n"),
        ("computes", "0\n"),
        ("not at all", "0\n"),
    ],
)
def test_a_kernel_runs_at_last_but_not_before_the_program_waits(
    opgate: OpGate, build: Path, how: str, result: str
) -> None:
    run = opgate("sim", "--seconds", "0", "--", build / "bin" / "opgate_unawaited", how)
    assert (run.returncode, run.stdout) == (0, result), run
