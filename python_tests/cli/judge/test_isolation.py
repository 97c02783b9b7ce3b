"""Operators that crash their process lose their own cases, and no others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, Results, complaints, read_results

ENDINGS = {
    "segfaults": "the native worker ended: SIGSEGV (Segmentation fault)",
    "aborts": "the native worker ended: SIGABRT (Aborted)",
    "exits": "the native worker ended: exit status 0",
}


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    return new_project(libraries=["libopgate_crashy.so"], specs=["libopgate_crashy_specs.so"])


# Native checks alone: each crash of the Python worker costs another import of torch.
CHECKS = ["value.layout", "value.reference", "effect", "fake.exists", "fake.metadata"]


@pytest.fixture(scope="module")
def finished(opgate: OpGate, project: Path) -> Completed:
    """One run over all of them: they crash some dozen times."""
    return opgate("run", "--device", "cpu", "--check", *CHECKS, folder=project)


@pytest.fixture(scope="module")
def results(finished: Completed, project: Path) -> Results:
    return read_results(project / ".opgate")


def test_the_run_ends_with_every_verdict_and_exit_1(finished: Completed, results: Results) -> None:
    assert (finished.returncode, complaints(finished)) == (1, [])
    assert results.finished is not None
    assert len(results.cases) == results.header["cases"]


@pytest.mark.parametrize("op", ENDINGS)
def test_the_case_that_crashes_is_named_with_its_end(op: str, results: Results) -> None:
    for case, line in results.of(op).items():
        if "/x=stepped/" in case:
            assert line["verdict"] == "crash"
            assert line["reason"].startswith(ENDINGS[op])
        else:
            assert line["verdict"] == "pass", case


def test_a_crash_quotes_what_its_own_process_printed_and_no_other(results: Results) -> None:
    quotes = {
        op: {line.get("reason", "").partition("printed: ")[2] for line in results.of(op).values()}
        for op in ENDINGS
    }
    assert quotes == {"segfaults": {""}, "aborts": {"", "a last word"}, "exits": {""}}


@pytest.mark.parametrize("op", ["fine", "forks", "prints"])
def test_a_stranger_in_the_same_run_passes(op: str, results: Results) -> None:
    assert {line["verdict"] for line in results.of(op).values()} == {"pass"}


def test_what_an_operator_prints_is_not_shown(finished: Completed) -> None:
    assert "noise" not in finished.stderr
    assert '"ran"' not in finished.stdout


def test_an_operator_that_always_dies_is_given_up(results: Results) -> None:
    uncalled = "/fake.exists"  # it does not call the operator itself
    lines = [line for case, line in results.of("hopeless").items() if not case.endswith(uncalled)]
    given_up = [line["reason"] for line in lines if line["verdict"] == "owed"]
    assert given_up
    groups = "(sample '.*' .*of |variant .* of )?"
    in_a_row = re.compile(rf"the native worker ended \d+ times in a row on {groups}hopeless; the last time: ")
    assert all(in_a_row.search(reason) for reason in given_up)
    assert {line["verdict"] for line in lines} == {"crash", "owed"}, "no verdict without a run"
    died = [line["reason"] for line in lines if line["verdict"] == "crash"]
    assert died
    assert all(reason.startswith("the native worker ended: exit status 3") for reason in died)


def test_a_sample_that_always_dies_does_not_hide_the_others(results: Results) -> None:
    cases = results.of("one_bad_sample")
    given_up = [line["reason"] for line in cases.values() if line["verdict"] == "owed"]
    assert given_up
    assert all("in a row on sample '7' in float32 of one_bad_sample; " in reason for reason in given_up)
    failed = {case for case, line in cases.items() if line["verdict"] == "fail"}
    assert failed == {"one_bad_sample/float32/4/x=stepped/cpu/value.layout"}
    assert not any("/4/" in case for case, line in cases.items() if line["verdict"] in ("owed", "crash"))


def test_a_crash_of_the_python_worker_costs_its_case_alone(opgate: OpGate, project: Path) -> None:
    ops = ["hopeless", "fine", "forks", "prints"]
    words = ["--device", "cpu", "--check", "fake.symbolic", "--op", *ops, "--case", "*/7/*"]
    output = project / "in Python"
    result = opgate("run", *words, "--output", output, folder=project)
    assert (result.returncode, complaints(result)) == (1, [])
    verdicts = {op: [line["verdict"] for line in read_results(output).of(op).values()] for op in ops}
    assert verdicts == {"hopeless": ["crash"], "fine": ["pass"], "forks": ["pass"], "prints": ["pass"]}
    (crashed,) = read_results(output).of("hopeless").values()
    assert crashed["reason"] == "the python worker ended: exit status 3"
    assert "noise" not in result.stderr
    assert '"ran"' not in result.stdout


def test_a_crash_that_does_not_repeat_is_reported_all_the_same(opgate: OpGate, project: Path) -> None:
    """Heap corruption shows once and not when each check is run again alone."""
    words = ["--device", "cpu", "--check", *CHECKS, "--op", "once"]
    marker = {"CRASHED_ONCE": str(project / "crashed")}
    output = project / "once"
    result = opgate("run", *words, "--output", output, folder=project, environment=marker)
    assert result.returncode == 1
    crashed = [
        line for line in read_results(output).of("once").values() if line["verdict"] not in ("pass", "owed")
    ]
    assert len(crashed) == 1
    assert crashed[0]["verdict"] == "crash"
    assert "SIGABRT" in crashed[0]["reason"]
    assert "did not happen again" in crashed[0]["reason"]


def test_the_table_and_the_last_line_say_crash(finished: Completed, results: Results) -> None:
    count = Counter(line["verdict"] for line in results.cases.values())
    rows = {
        line.split()[0]: line for line in finished.stdout.splitlines() if " cpu " in line and "·" not in line
    }
    assert all("CRASH" in rows[op] for op in [*ENDINGS, "hopeless"])
    assert "CRASH" not in rows["fine"]
    last = finished.stdout.splitlines()[-1]
    broken = count["crash"] + count["fail"]
    assert last.startswith(f"{count['pass']} passed, {broken} failed, {count['owed']} owed")
    assert f"({count['crash']} crashed; " in last
    assert " owed: not run, because the native worker ended " in last


def test_a_crash_is_reproduced_by_the_printed_command(
    finished: Completed, opgate: OpGate, project: Path
) -> None:
    printed = [line for line in finished.stdout.splitlines() if "opgate repro 'segfaults/" in line]
    again = opgate("repro", printed[0].split("'")[1], folder=project)
    assert again.returncode == 1
    assert "CRASH" in again.stdout
    assert "SIGSEGV (Segmentation fault)" in again.stdout
