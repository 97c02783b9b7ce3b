"""Graphs with memory of their own, graphs that are built node by node, and conditional nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Completed, OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


def run_with(opgate: OpGate, build: Path, word: str) -> Completed:
    return opgate("sim", "--seconds", "0", "--", build / "bin" / "opgate_graphs", word)


@pytest.mark.parametrize(
    ("word", "output"),
    [
        ("freed", "sum 195, value 0\n"),
        ("freed-behind", "sum 65, value 2\n"),
        ("freed-at-launch", "sum 195, value 0\n"),
        ("nodes", "sum 2\n"),
        ("conditions", "counted to 11, branch 2, choice 40\n"),
    ],
)
def test_right_graphs_run_as_they_do_on_a_gpu(opgate: OpGate, build: Path, word: str, output: str) -> None:
    run = run_with(opgate, build, word)
    assert (run.returncode, run.stdout) == (0, output), run
    assert run.stderr.split() == ["opgate", "sim:", "nothing", "found"]


@pytest.mark.parametrize(
    ("word", "finding"),
    [
        ("unwritten", "init: ld.global.u32 reads 4 bytes of global memory that was not written"),
        ("freed-early", "byte 0 of an allocation of 128 bytes that was freed"),
        ("never-freed", "that it has allocated in an earlier launch and that are still in use"),
    ],
)
def test_what_is_wrong_is_found(opgate: OpGate, build: Path, word: str, finding: str) -> None:
    run = run_with(opgate, build, word)
    assert run.returncode == 1, run
    assert finding in run.stderr.rpartition("opgate sim: ")[2], run
