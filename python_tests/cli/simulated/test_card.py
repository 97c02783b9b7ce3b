"""`ci/card`: what it runs on a machine with a GPU runs here with the simulator instead of the card."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


def card(source: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    command = [source / "ci" / "card", *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)


def dry(source: Path, build: Path, output: Path, *options: str) -> tuple[int, str]:
    """The exit status, and the report."""
    ran = card(source, "--dry", "--build", build, "--output", output, *options)
    report = output / "report.md"
    assert report.exists(), ran.stdout + ran.stderr
    return ran.returncode, report.read_text()


def rows(report: str) -> dict[str, list[str]]:
    """The rows of all tables, by their first cells."""
    lines = [line.split("|")[1:-1] for line in report.splitlines() if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


@pytest.mark.exhaustive
def test_all_stages_run_without_a_card(source: Path, build: Path, tmp_path: Path) -> None:
    status, report = dry(source, build, tmp_path / "a report")
    told = rows(report)
    assert status == 0, report
    assert "| card | none: the simulator takes its place |" in report
    texts, _, equal, different, not_run, _ = told["conversions"]
    assert (texts, different, not_run) == (equal, "0", "0") and int(texts) > 400
    assert told["past-the-end"][0] == "memory" and told["no-race"][0] == "nothing"
    summaries = [line for line in report.splitlines() if line.startswith("| summary")]
    assert len(summaries) == 3 and " 0 failed" in summaries[0] and " 0 failed" in summaries[1]
    assert "3 of 3 defects found" in summaries[2]


def test_a_difference_is_named(source: Path, build: Path, tmp_path: Path) -> None:
    only = ("--stage", "comparison", "--only", "add.s32")
    status, report = dry(source, build, tmp_path / "same", *only)
    assert (status, rows(report)["integers"][3]) == (0, "0")
    status, report = dry(source, build, tmp_path / "planted", *only, "--plant", "add.s32=sub.s32")
    assert status == 1
    assert rows(report)["`add.s32 %r0, %r1, %r2;`"][0].endswith(" of 2489")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--nonsense"], "unknown argument '--nonsense'"),
        (["--stage"], "--stage takes a value"),
        (["--build", "/nowhere"], "--build needs --dry"),
        (["--dry", "--build", "/nowhere"], "no /nowhere/bin/opgate_card"),
    ],
)
def test_wrong_usage_is_refused(source: Path, options: list[str], told: str) -> None:
    ran = card(source, *options)
    assert (ran.returncode, told in ran.stderr) == (2, True), ran.stderr


def test_a_stage_that_there_is_not_is_refused(source: Path, build: Path, tmp_path: Path) -> None:
    ran = card(source, "--dry", "--build", build, "--output", tmp_path, "--stage", "nonsense")
    assert ran.returncode == 2 and "there is no stage 'nonsense': smoke, comparison" in ran.stderr
