"""A worker that dies reports where: the operator's own calls, by name, file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, Results, complaints, read_results

# The operator, how the worker ends, and the function in which that happens.
DEATHS = [
    ("divides", "SIGFPE", "rows_for_each"),
    ("dereferences", "SIGSEGV", "first_of"),
    ("recurses", "SIGSEGV", "depth_below"),
    ("terminates", "SIGABRT", "must_not_throw"),
    ("in_threads", "SIGSEGV", "first_of"),
    ("damages_the_heap", "SIGABRT", "damages_the_heap"),
    ("hangs", "no answer for 5 s", "waits_for_ever"),
]


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    return new_project(libraries=["libopgate_fatal.so"], specs=["libopgate_fatal_specs.so"])


@pytest.fixture(scope="module")
def finished(opgate: OpGate, project: Path) -> Completed:
    return opgate("run", "--check", "value.layout", "--time-limit", "5", folder=project)


@pytest.fixture(scope="module")
def results(finished: Completed, project: Path) -> Results:
    assert (finished.returncode, complaints(finished)) == (1, [])
    return read_results(project / ".opgate")


@pytest.mark.long
@pytest.mark.parametrize(("op", "ending", "function"), DEATHS)
def test_the_stack_begins_with_the_function(op: str, ending: str, function: str, results: Results) -> None:
    line = results.cases[f"{op}/float32/7/x=stepped/cpu/value.layout"]
    assert ending in line["reason"]
    where = line["stack"][0]
    assert where.startswith(f"{function} ")
    # The call that throws is inlined from a header of the standard library.
    assert ("fatal/library.cpp:" in where) == (op != "terminates")


def test_the_function_that_called_it_follows(results: Results) -> None:
    stack = results.cases["divides/float32/7/x=stepped/cpu/value.layout"]["stack"]
    assert stack[1].startswith("divides at ")
    assert len(stack) == 2  # nothing of the dispatcher and of OpGate


def test_recursion_is_named_once(results: Results) -> None:
    stack = results.cases["recurses/float32/7/x=stepped/cpu/value.layout"]["stack"]
    assert [call.partition(" ")[0] for call in stack].count("depth_below") == 1


def test_other_cases_have_no_stack(results: Results) -> None:
    assert {"stack" in line for line in results.cases.values() if line["verdict"] == "pass"} == {False}


def test_the_terminal_shows_it(finished: Completed) -> None:
    assert "   in       rows_for_each at " in finished.stdout
