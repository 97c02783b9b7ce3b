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


def test_a_child_process_can_ask_for_devices_while_the_work_runs(opgate: OpGate, build: Path) -> None:
    """A thread of the parent holds the lock of the simulator then, which the child does not have."""
    program = build / "bin" / "opgate_unawaited"
    run = opgate("sim", "--seconds", "0", "--", program, "forks")
    assert run.stdout == "cudaSuccess, cudaErrorInitializationError\ncudaSuccess\n1000042\n", run


def test_what_runs_at_the_end_of_the_program_may_be_compiled(
    opgate: OpGate, build: Path, tmp_path: Path
) -> None:
    """Objects that are made after the simulator are destroyed before its last kernels run."""
    arguments = [
        "sim",
        "--tool",
        "memory",
        "--seconds",
        "0",
        "--",
        build / "bin" / "opgate_unawaited",
        "not at all",
    ]
    settings = {"OPGATE_SIM_COMPILE": "always", "OPGATE_SIM_CACHE": str(tmp_path)}
    run = opgate(*arguments, environment=settings, timeout=60)
    assert (run.returncode, run.stdout) == (0, "0\n"), run
    assert "which ran at its end" in run.stderr
