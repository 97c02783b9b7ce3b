"""A device that OpGate does not know: with one file for it, plans, results, tables and the gate have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

LIBRARY = {"libraries": ["libopgate_made_up_device.so"]}
SPECS = {"specs": ["libopgate_made_up_device_specs.so"]}
WITHOUT_IT = {"libraries": ["libopgate_ops.so"], "specs": ["libopgate_identity_specs.so"]}
CHECKS = ["--check", "value.reference", "value.layout", "fake.metadata", "run.device"]
DEVICE = "privateuseone"


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    return new_project(**LIBRARY, **SPECS)


class Runs:
    """Runs with the library as it is, or with what MADE_UP_DEVICE says."""

    def __init__(self, opgate: OpGate, project: Path) -> None:
        self.opgate, self.project = opgate, project

    def of(self, otherwise: str = "") -> Completed:
        return self.opgate(
            "run", *CHECKS, "--jobs", "1", "--output", f"run {otherwise}", folder=self.project,
            environment={"MADE_UP_DEVICE": otherwise},
        )  # fmt: skip

    def gate(self, base: str, head: str) -> Completed:
        for otherwise in (base, head):
            assert self.of(otherwise).returncode == 0
        return self.opgate(
            "gate", "--base", f"run {base}/results.jsonl", "--results", f"run {head}/results.jsonl",
            folder=self.project, environment={"MADE_UP_DEVICE": head},
        )  # fmt: skip


@pytest.fixture(scope="module")
def runs(opgate: OpGate, project: Path) -> Runs:
    return Runs(opgate, project)


def test_cases_are_planned_for_it_and_owed_with_its_reason(runs: Runs) -> None:
    run = runs.of()
    assert run.returncode == 0, run
    cases = read_results(runs.project / "run ").cases
    on_it = {case: line for case, line in cases.items() if f"/{DEVICE}/" in case}
    assert {line["verdict"] for line in on_it.values()} == {"owed"}
    assert {line["reason"] for line in on_it.values()} == {"nobody has built one"}
    assert {case.split("/")[1] for case in on_it} >= {"float16", "float32"}
    assert {case.rpartition("/")[2] for case in on_it} >= {"value.reference", "run.device"}
    assert f"{len(on_it)} owed (owed: nobody has built one" in run.stdout.splitlines()[-1]


def test_tables_name_it(opgate: OpGate, project: Path) -> None:
    listed = opgate("list", "cases", *CHECKS, "--device", DEVICE, folder=project)
    assert listed.returncode == 0, listed
    assert {case.split("/")[4] for case in listed.stdout.split()} == {DEVICE}
    coverage = opgate("list", "coverage", folder=project)
    assert f"cpu,{DEVICE}" in coverage.stdout
    run = opgate("run", *CHECKS, "--verbose", "--output", "verbose", folder=project)
    assert any(line.split()[:2] == ["twice", DEVICE] for line in run.stdout.splitlines()), run.stdout


def test_a_device_that_nothing_registers_is_refused(opgate: OpGate, new_project: Callable[..., Path]) -> None:
    run = opgate("run", "--device", DEVICE, folder=new_project(**WITHOUT_IT))
    assert_refused(run, f"no device matches '{DEVICE}'; there are: cpu, cuda")


def test_the_gate_compares_what_is_planned_for_it(runs: Runs) -> None:
    same = runs.gate("", "")
    assert same.returncode == 0, same
    lost = runs.gate("", "not promised")
    assert lost.returncode == 1
    assert f"is no longer promised on {DEVICE}" in lost.stdout
    fewer = runs.gate("", "one dtype")
    assert fewer.returncode == 1
    assert f"{DEVICE}: float16 is no longer checked" in fewer.stdout
    assert runs.gate("one dtype", "").returncode == 0
