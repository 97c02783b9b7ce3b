"""On the simulated device, a kernel takes the first of its configurations that works, and says so once."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from harness import OpGate

pytest.importorskip("triton")
pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")

LINE = (
    r"^opgate sim: `(\w+)` is not tuned: "
    r"of its (\d) configurations, the first that works here is taken: B: (\d+)"
)


def test_the_first_configuration_that_works_is_taken_and_named_once(
    opgate: OpGate, source: Path, tmp_path: Path
) -> None:
    program = source / "fixtures" / "programs" / "autotuned_program.py"
    run = opgate("sim", "--tool", "memory", "--seconds", "0", "--", sys.executable, program, folder=tmp_path)
    assert run.stdout.splitlines() == [
        "in place True [64]",
        "in place True [64]",
        "sum True [64, 256]",  # the hook of the first one ran before it was refused
        "pruned [128]",
        "timed 1 2",
    ], run
    assert re.findall(LINE, run.stderr, re.MULTILINE) == [
        ("one_more", "3", "64"),
        ("total_of", "3", "64"),
        ("negate", "2", "128"),
    ]


@pytest.mark.long
def test_kernels_are_tuned_where_that_is_wanted(opgate: OpGate, source: Path, tmp_path: Path) -> None:
    program = source / "fixtures" / "programs" / "autotuned_program.py"
    words = ("--tool", "memory", "--seconds", "0", "--tune")
    run = opgate("sim", *words, "--", sys.executable, program, folder=tmp_path)
    assert run.stdout.splitlines()[:3] == [
        "in place True [64, 128, 256]",
        "in place True [64, 128, 256]",
        "sum True [64, 128, 256]",
    ], run
    assert "is not tuned" not in run.stderr
