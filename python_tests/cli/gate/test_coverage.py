"""Operators that have no spec and no recorded calls are named, and reported when they change."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from changes import Runs
from harness import OpGate, assert_refused

UNCOVERED = "opgate_changes::uncovered"


def coverage(opgate: OpGate, project: Path, *options: str, changes: str = "") -> list[list[str]]:
    """The words of each line of `opgate list coverage`."""
    result = opgate("list", "coverage", *options, folder=project, environment={"OPGATE_CHANGES": changes})
    assert (result.returncode, result.stderr) == (0, ""), result
    return [line.split() for line in result.stdout.splitlines()]


def told(runs: Runs, base: str, head: str) -> list[tuple[str, str, str]]:
    """What the gate says of the coverage of a change."""
    runs.gate(base, head)
    remarks = runs.remarks(head)
    return [
        (said["kind"], said["op"], said["what"]) for said in remarks if said["rule"] == "coverage.changed"
    ]


def test_each_operator_is_listed_with_what_it_has(opgate: OpGate, runs: Runs) -> None:
    assert coverage(opgate, runs.project, changes="uncovered_operator") == [
        ["operator", "spec", "samples", "devices", "fake", "gradient", "opcheck"],
        ["opgate_changes::scale", "spec", "2", "cpu", "C++", "-", "yes"],
        ["opgate_changes::scale.twice", "spec", "1", "cpu", "C++", "-", "yes"],
        ["opgate_changes::uncovered", "-", "-", "cpu", "-", "-", "-"],
        ["opgate_changes::weigh", "spec", "2", "cpu", "C++", "C++", "yes"],
        [],
        ["not", "covered:", "1", "of", "4", "operators"],
    ]


def test_operators_are_chosen_by_name(opgate: OpGate, runs: Runs) -> None:
    lines = coverage(opgate, runs.project, "--op", "scale*", "*uncovered", changes="uncovered_operator")
    assert [line[0] for line in lines[1:-2]] == [
        f"opgate_changes::{name}" for name in ("scale", "scale.twice", "uncovered")
    ]
    wrong = opgate("list", "coverage", "--op", "nothing", folder=runs.project)
    assert_refused(wrong, "nothing")
    assert_refused(
        opgate("list", "coverage", "--check", "value", folder=runs.project), "only be filtered by --op"
    )


def test_a_run_names_operators_that_nothing_checks(opgate: OpGate, runs: Runs, tmp_path: Path) -> None:
    words = ["run", "--check", "value.dtype", "--output", tmp_path]
    environment = {"OPGATE_CHANGES": "uncovered_operator"}
    result = opgate(*words, folder=runs.project, environment=environment)
    assert result.returncode == 0, result
    assert (
        f"not covered (1 of 4 operators have no spec and no recorded calls): {UNCOVERED}\n" in result.stdout
    )
    assert "not covered" not in opgate(*words, folder=runs.project).stdout


def test_a_new_operator_without_a_spec_is_told(runs: Runs) -> None:
    assert told(runs, "", "uncovered_operator") == [
        ("note", UNCOVERED, "is new and not covered: it has no spec and no recorded calls")
    ]


def test_a_removed_operator_without_a_spec_is_told(runs: Runs) -> None:
    assert told(runs, "uncovered_operator", "") == [
        ("note", UNCOVERED, "was not covered, and no library or module defines it now")
    ]


def test_an_operator_that_loses_its_spec_is_told_and_the_other_way_is_better(runs: Runs) -> None:
    operator = "opgate_changes::scale.twice"
    assert told(runs, "", "no_spec") == [
        ("note", operator, "is no longer covered: it has no spec and no recorded calls now")
    ]
    assert runs.refused("no_spec") == {"case.lost"}
    assert told(runs, "no_spec", "") == [("better", operator, "is covered now")]


def test_nothing_is_told_of_an_equal_coverage(runs: Runs) -> None:
    assert told(runs, "uncovered_operator", "uncovered_operator,half_ulp") == []


@pytest.fixture
def ledger(opgate: OpGate, new_project: Callable[..., Path]) -> Path:
    """The ledger of a project of its own, accepted with an operator that is not covered."""
    project = new_project(libraries=["libopgate_changes.so"], ledger="ledger")
    environment = {"OPGATE_CHANGES": "uncovered_operator"}
    assert (
        opgate("run", "--op", "weigh", "--jobs", "1", folder=project, environment=environment).returncode == 0
    )
    assert opgate("accept", folder=project, environment=environment).returncode == 0
    return project / "ledger"


@pytest.mark.long
def test_the_ledger_keeps_what_is_not_covered(opgate: OpGate, ledger: Path) -> None:
    file = ledger / "not_covered.txt"
    assert file.read_text().splitlines()[1:] == [UNCOVERED]

    def gate(changes: str) -> str:
        words = ["gate", "--op", "weigh", "--check", "value.dtype"]
        result = opgate(*words, folder=ledger.parent, environment={"OPGATE_CHANGES": changes})
        assert result.returncode == 0, result
        return result.stdout

    assert "covered" not in gate("uncovered_operator").partition("base: ")[2]
    assert "no library or module defines it now" in gate("")
    file.unlink()
    assert "no library or module defines it now" not in gate("")


# Operators in Python

MODULE = """
import foreign
import opgate
import torch


@torch.library.custom_op("OPS::custom", mutates_args=())
def custom(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@custom.register_fake
def _(x):
    return torch.empty_like(x)


torch.library.define("OPS::by_name", "(Tensor x) -> Tensor")
library = torch.library.Library("OPS", "FRAGMENT")
library.define("by_library.overload(Tensor x) -> Tensor")
library.impl("by_library.overload", lambda x: x.clone(), "CompositeImplicitAutograd")
library.impl("undefined", lambda x: x.clone(), "CPU")


@torch.library.custom_op("OPS::described", mutates_args=())
def described(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@opgate.spec("OPS::described")
def _(spec):
    spec.dtypes(torch.float32)
    spec.reference(lambda x: x.clone())
    spec.accuracy(opgate.exact())
    spec.sample(opgate.uniform(4))
"""
FOREIGN = """
import torch

torch.library.define("somebody_elses::by_name", "(Tensor x) -> Tensor")
library = torch.library.Library("somebody_elses", "FRAGMENT")
library.define("by_library(Tensor x) -> Tensor")


@torch.library.custom_op("somebody_elses::custom", mutates_args=())
def custom(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
"""


def test_operators_of_modules_count_and_those_of_other_packages_do_not(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    project = new_project(libraries=[], python=["mine"], python_path=["."])
    (project / "mine.py").write_text(MODULE.replace("OPS", "coverage_ops"))
    (project / "foreign.py").write_text(FOREIGN)
    assert coverage(opgate, project)[1:] == [
        ["coverage_ops::by_library.overload", "-", "-", "all", "Python", "Python", "-"],
        ["coverage_ops::by_name", "-", "-", "-", "-", "-", "-"],
        ["coverage_ops::custom", "-", "-", "all", "Python", "-", "-"],
        ["coverage_ops::described", "spec", "1", "all", "-", "-", "yes"],
        [],
        ["not", "covered:", "3", "of", "4", "operators"],
    ]


def test_a_library_without_any_spec_is_listed(opgate: OpGate, new_project: Callable[..., Path]) -> None:
    project = new_project(libraries=["libopgate_seen.so"])
    lines = coverage(opgate, project)
    assert [line[:2] for line in lines[1:-2]] == [[f"seen::{op}", "-"] for op in ("blind", "pick", "picky")]
    assert lines[-1] == ["not", "covered:", "3", "of", "3", "operators"]


def test_recorded_operators_are_covered(opgate: OpGate, seen_library: Path, tmp_path: Path) -> None:
    shutil.copy(seen_library, tmp_path / "libseen.so")
    (tmp_path / "program.py").write_text(
        "import torch\ntorch.ops.load_library('libseen.so')\ntorch.ops.seen.blind(torch.ones(3, 4), 2.0)\n"
    )
    recorded = opgate("record", "--", sys.executable, "program.py", folder=tmp_path)
    assert recorded.returncode == 0, recorded
    assert coverage(opgate, tmp_path)[1:] == [
        ["seen::blind", "recorded", "1", "cpu", "C++", "-", "yes"],
        ["seen::pick", "-", "-", "cpu", "C++", "-", "-"],
        ["seen::picky", "-", "-", "all", "C++", "C++", "-"],
        [],
        ["not", "covered:", "2", "of", "3", "operators"],
    ]


def test_a_base_that_says_nothing_of_coverage_is_compared_without_it(runs: Runs, tmp_path: Path) -> None:
    """As one whose own build, of an earlier version, ran it."""
    lines = (runs.of("") / "results.jsonl").read_text().splitlines()
    header = json.loads(lines[0])
    del header["coverage"]
    (tmp_path / "results.jsonl").write_text("\n".join([json.dumps(header), *lines[1:], ""]))
    results = runs.of("uncovered_operator") / "results.jsonl"
    result = runs.opgate("gate", "--base", tmp_path, "--results", results, folder=runs.project)
    assert result.returncode == 0, result
    assert UNCOVERED not in result.stdout
