"""An operator that exceeds a limit (time, memory, processes) loses only its cases; the reason says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, Results, complaints, read_results

OPS = ["fine", "bombs", "starts_a_program", "uses_threads", "hangs", "hoards", "hoards_and_dies"]


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    return new_project(libraries=["libopgate_greedy.so"], specs=["libopgate_greedy_specs.so"])


@pytest.fixture(scope="module")
def finished(opgate: OpGate, project: Path) -> Completed:
    """One run of all of them, with limits of five seconds and 3 GiB for each case."""
    limits = ["--time-limit", "5", "--memory-limit", "3"]
    return opgate("run", "--check", "value.layout", *limits, folder=project)


@pytest.fixture(scope="module")
def results(finished: Completed, project: Path) -> Results:
    assert (finished.returncode, complaints(finished)) == (1, [])
    return read_results(project / ".opgate")


@pytest.mark.long
def test_it_costs_the_case_alone(results: Results) -> None:
    broken = {case for case, line in results.cases.items() if line["verdict"] != "pass"}
    greedy = set(OPS) - {"fine", "uses_threads"}
    assert broken == {f"{op}/float32/7/x=stepped/cpu/value.layout" for op in greedy}


def stepped(results: Results, op: str) -> dict[str, str]:
    """The reason of the one case that goes wrong."""
    return results.cases[f"{op}/float32/7/x=stepped/cpu/value.layout"]


@pytest.mark.long
@pytest.mark.parametrize("op", ["bombs", "hangs"])
def test_a_fork_bomb_starts_nothing_and_ends_as_a_hang_does(op: str, results: Results) -> None:
    line = stepped(results, op)
    assert line["verdict"] == "timeout"
    assert "no answer for 5 s, which is the limit (--time-limit)" in line["reason"]


def test_a_program_cannot_be_started(results: Results) -> None:
    line = stepped(results, "starts_a_program")
    assert line["verdict"] == "fail"
    assert "true could not be started" in line["happened"]


def test_threads_can_be_started(results: Results) -> None:
    assert {line["verdict"] for line in results.of("uses_threads").values()} == {"pass"}


@pytest.mark.parametrize(("op", "verdict"), [("hoards", "fail"), ("hoards_and_dies", "crash")])
def test_memory_beyond_the_limit_is_named(op: str, verdict: str, results: Results) -> None:
    line = stepped(results, op)
    assert line["verdict"] == verdict
    assert "memory limit of 3.0 GiB (--memory-limit)" in line["reason"]


@pytest.mark.parametrize(
    "words",
    [
        ["--time-limit", "0"],
        ["--time-limit", "x"],
        ["--memory-limit", "0.5"],
        ["--memory-limit", "-1"],
        ["--jobs", "0"],
        ["--jobs", "-2"],
        ["--jobs", "many"],
    ],
    ids=" ".join,
)
def test_an_impossible_limit_is_wrong_usage(words: list[str], opgate: OpGate, project: Path) -> None:
    result = opgate("run", *words, folder=project)
    assert (result.returncode, result.stdout) == (2, "")
    assert words[0] in result.stderr
    assert "see opgate --help" in result.stderr
