"""On the simulated device, a kernel takes the first of its configurations that works, or all run."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

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


@pytest.fixture
def library(source: Path, tmp_path: Path) -> Path:
    return shutil.copytree(source / "fixtures" / "autotuned_tests", tmp_path / "library")


@pytest.mark.long
def test_a_test_judges_all_configurations(opgate: OpGate, library: Path) -> None:
    words = ("--tool", "memory", "--seconds", "0", "--autotune", "all", "--report", "findings")
    tests = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", "ends.xml")
    run = opgate("sim", *words, "--", *tests, folder=library)
    failures = {
        case.get("name"): failure.text or ""
        for case in ElementTree.parse(library / "ends.xml").iter("testcase")
        for failure in case.iter("failure")
    }
    outside = failures.pop("test_without_mask_where_the_small_blocks_fit", "")
    assert "opgate sim: `negate_without_mask` ran with B=256" in outside, run
    # The names of a function and of a method are the same; both fail.
    assert list(failures) == ["test_rows_that_are_too_long"]
    assert "3 failed, 6 passed" in run.stdout
    (text,) = failures.values()
    assert re.search(
        r"opgate sim: the test fails with a configuration: `sums_of_short_rows` with B=64: "
        r"`y`\[\d\] is [\d.]+, and with B=256, the first that works, it is [\d.]+\n",
        text,
    )
    assert "Mismatched elements: 4 / 4 (100.0%)" in text
    assert "the test passes only once, and cannot judge `sums_of_short_rows` with B=64" in run.stderr
    findings = [json.loads(line) for line in (library / "findings").read_text().splitlines()]
    assert [one["kernel"] for one in findings if one["tool"] == "memory"] == ["negate_without_mask"]


@pytest.mark.long
def test_a_program_notes_other_results_and_goes_on_with_the_first(opgate: OpGate, library: Path) -> None:
    words = ("--tool", "memory", "--seconds", "0", "--autotune", "all")
    run = opgate("sim", *words, "--", sys.executable, "program.py", folder=library)
    assert (run.returncode, run.stdout) == (0, "as with the first True True\n"), run
    assert re.findall(r"^opgate sim: note: `(\w+)` with (B=\d+)", run.stderr, re.MULTILINE) == [
        ("sums_of_short_rows", "B=64")
    ]
    assert "is not tuned" not in run.stderr


GENERATED = """
import torch

@torch.compile
def add_at(places, x):
    return torch.zeros(64, device="cuda").index_add(0, places, x)

for _ in range(2):
    print(add_at(torch.arange(256, device="cuda") % 64, torch.ones(256, device="cuda")).sum().item())
"""


@pytest.mark.long
@pytest.mark.parametrize(("autotune", "processes"), [("first", "2"), ("all", "1")])
def test_generated_kernels_run_with_several_configurations(
    opgate: OpGate, tmp_path: Path, autotune: str, processes: str
) -> None:
    (tmp_path / "program.py").write_text(GENERATED)
    words = ("--tool", "memory", "--seconds", "0", "--autotune", autotune)
    variables = {
        "TORCHINDUCTOR_COMPILE_THREADS": processes,
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        "TMPDIR": str(tmp_path),
    }
    run = opgate("sim", *words, "--", sys.executable, "program.py", folder=tmp_path, environment=variables)
    assert (run.returncode, run.stdout.splitlines()) == (0, ["256.0", "256.0"]), run
    assert ("of its 2 configurations, the first that works here" in run.stderr) == (autotune == "first")
