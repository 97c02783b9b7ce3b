"""`new`, `malloc` and `free` in kernels of a program, on the simulated devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Completed, OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


def run_with(opgate: OpGate, build: Path, mistake: str) -> Completed:
    return opgate("sim", "--seconds", "0", "--", build / "bin" / "opgate_kernel_heap", mistake)


def test_a_right_program_runs_as_it_does_on_a_gpu(opgate: OpGate, build: Path) -> None:
    """Memory is kept from launch to launch, and what is never freed is no finding."""
    run = run_with(opgate, build, "none")
    assert (run.returncode, run.stdout) == (0, "sum 45, null 1\nlast 63, first 7\n"), run
    assert run.stderr.split() == ["opgate", "sim:", "nothing", "found"]


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("unwritten", "init: ld.u32 reads 4 bytes of global memory that was not written"),
        ("past-the-end", "past the end of an allocation of 16 bytes by 4"),
        ("after-free", "byte 0 of an allocation of 16 bytes that was freed"),
        ("freed-twice", "byte 0 of an allocation of 16 bytes that was freed"),
        ("of-the-host", "call.uni free of 0x"),
        ("no-barrier", "race: "),
        ("on-the-host", "the source of a copy: memory that a kernel has got by malloc"),
    ],
)
def test_what_is_wrong_is_found(opgate: OpGate, build: Path, mistake: str, words: str) -> None:
    run = run_with(opgate, build, mistake)
    assert run.returncode == 1, run
    assert words in run.stderr.rpartition("opgate sim: ")[2], run
