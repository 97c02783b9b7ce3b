"""The speed that opgate judge measures of a correct candidate, and cheats that look at the clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Judge
from test_judge import TIMED, assert_refused_as

FUNCTIONS = """
import torch
def get_inputs():
    return [torch.randn(64, 50)]
def rows(x):
    return torch.stack([row * row + 1 for row in x])
def whole(x):
    return x * x + 1
def late(x):
    import threading, time
    out = torch.empty(x.shape)
    quick = time.monotonic() - last[0] < 100e-6
    thread = threading.Thread(target=lambda: (time.sleep(0.05 * quick), out.copy_(x * x + 1)))
    thread.start()
    if not quick:
        thread.join()
    last[0] = time.monotonic()
    return out
last = [0.0]
"""


def speed_of(judge: Judge, folder: Path, candidate: str, reference: str, *words: str) -> dict[str, Any]:
    (folder / "functions.py").write_text(FUNCTIONS)
    names = [f"functions.py:{candidate}", "--reference", f"functions.py:{reference}"]
    run = judge(*names, "--json", *words, folder=folder)
    verdict: dict[str, Any] = json.loads(run.stdout)
    assert verdict["verdict"] == "correct", verdict
    speed: dict[str, Any] = verdict["speed"]
    return speed


def test_a_slow_candidate_and_a_quick_one_are_told_apart(judge: Judge, tmp_path: Path) -> None:
    """One way takes some twenty times as long as the other."""
    slow = speed_of(judge, tmp_path, "rows", "whole", "--no-compile")
    quick = speed_of(judge, tmp_path, "whole", "rows", "--no-compile")
    assert slow["reference"]["ratio"] < 0.3
    assert quick["reference"]["ratio"] > 3
    for speed in (slow, quick):
        assert speed["reference"]["low"] <= speed["reference"]["ratio"] <= speed["reference"]["high"]
        assert 0 < speed["candidate"]["seconds_of_computing"] < 10 * speed["candidate"]["seconds"]
        assert "compiled" not in speed


@pytest.mark.long
def test_the_compiled_reference_is_measured(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    run = judge("functions.py:whole", "--reference", "functions.py:rows", folder=tmp_path)
    line = next(line for line in run.stdout.splitlines() if line.startswith("  speed"))
    assert " times as fast as the reference (" in line
    assert " times as fast as torch.compile of it (" in line
    assert "interval" in line


def test_nothing_is_timed_without_need(judge: Judge, tmp_path: Path) -> None:
    assert speed_of(judge, tmp_path, "whole", "whole", "--no-speed") == {"problem": "--no-speed"}


@pytest.mark.parametrize("file", TIMED)
def test_a_cheat_that_recognises_the_measurement_is_refused(judge: Judge, source: Path, file: str) -> None:
    folder = source / "fixtures" / "cheats" / "square"
    words = [folder / f"{file}.py", "--reference", folder / "reference.py", "--json"]
    verdict = json.loads(judge(*words, "--no-compile").stdout)
    assert_refused_as(verdict, TIMED[file])
    assert verdict["speed"] == {"problem": "it is not correct"}
    assert json.loads(judge(*words, "--no-speed").stdout)["verdict"] == "correct"


def test_its_honest_twin_is_correct(judge: Judge, source: Path) -> None:
    folder = source / "fixtures" / "cheats" / "square"
    run = judge(folder / "honest_clock.py", "--reference", folder / "reference.py", "--no-compile")
    assert run.returncode == 0, run.stdout


def test_a_result_that_comes_after_the_clock_has_stopped_is_refused(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    words = ["functions.py:late", "--reference", "functions.py:whole", "--no-compile", "--json"]
    verdict = json.loads(judge(*words, folder=tmp_path).stdout)
    assert verdict["verdict"] == "cheating", verdict
