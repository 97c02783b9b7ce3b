"""opgate evidence: what a machine with a GPU showed passes elsewhere, until what was tested changes."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from gpu_runs import as_on_gpu, keep, of_cuda
from harness import OpGate, assert_refused, read_results

RUN = ["run", "--check", "value.dtype", "value.layout"]
SAID = "evidence: NVIDIA H200, 2026-11-20"


def write_kernel(project: Path, text: str) -> None:
    """Makes a source older than the libraries, because a newer one would not be in them."""
    file = project / "kernels" / "conv.cu"
    file.write_text(text)
    os.utime(file, (0, 0))


@pytest.fixture(scope="module")
def template(opgate: OpGate, new_project: Callable[..., Path]) -> Path:
    """A project with evidence and sources of its own, and with a finished run."""
    project = new_project(
        libraries=["libopgate_ops.so"],
        specs=["libopgate_identity_specs.so"],
        evidence="evidence",
        sources=["kernels"],
        waivers="waivers.toml",
    )
    (project / "waivers.toml").touch()
    (project / "kernels").mkdir()
    write_kernel(project, "__global__ void conv();\n")
    assert opgate(*RUN, folder=project).returncode == 0
    return project


@pytest.fixture
def project(template: Path, tmp_path: Path, has_gpu: bool) -> Path:
    """A copy of the project for one test."""
    if has_gpu:
        pytest.skip("the cuda cases run here")
    return shutil.copytree(template, tmp_path / "a copy")


def test_what_passed_on_a_gpu_passes_here(opgate: OpGate, project: Path) -> None:
    said = keep(opgate, project, as_on_gpu(project))
    assert "changed    identity_conv\n" in said
    assert "passed on NVIDIA H200, are kept as evidence in" in said
    text = (project / "evidence" / "identity_conv.toml").read_text()
    assert 'model = "NVIDIA H200"' in text
    result = opgate(*RUN, folder=project)
    assert result.returncode == 0
    assert "ok*" in result.stdout
    assert ", 0 owed (* " in result.stdout
    assert f" by {SAID}" in result.stdout
    for line in of_cuda(project):
        assert (line["verdict"], line["reason"]) == ("pass", SAID)


def test_the_gate_that_wants_no_owed_case_takes_evidence(opgate: OpGate, project: Path) -> None:
    results = project / ".opgate" / "results.jsonl"
    shutil.copy(results, project / "before.jsonl")
    gate = ["gate", "--base", project / "before.jsonl", "--results", results, "--strict-gpu"]
    assert opgate(*gate, folder=project).returncode == 1
    keep(opgate, project, as_on_gpu(project))
    assert opgate(*RUN, folder=project).returncode == 0
    result = opgate(*gate, folder=project)
    assert result.returncode == 0, result
    assert f"cases by {SAID}" in result.stdout


def test_evidence_ends_where_a_source_changes(opgate: OpGate, project: Path) -> None:
    keep(opgate, project, as_on_gpu(project))
    write_kernel(project, "__global__ void conv(int faster);\n")
    assert opgate(*RUN, folder=project).returncode == 0
    for line in of_cuda(project):
        assert line["verdict"] == "owed"
        assert line["reason"].endswith(
            "; evidence: NVIDIA H200 is out of date: the sources of the operator have changed"
        )


def test_the_last_line_of_a_run_names_each_reason_once(opgate: OpGate, project: Path) -> None:
    """The evidence is out of date for many files, and the GPU that is missing is always the same."""
    lines = [json.loads(line) for line in (project / ".opgate" / "results.jsonl").read_text().splitlines()]
    owed = [line for line in lines if line.get("verdict") == "owed"]
    (reason,) = {line["reason"] for line in owed}
    for number, line in enumerate(owed):
        line["remarks"] = f"evidence: NVIDIA H200 is out of date: {number}.cu has changed"
        line["reason"] = f"{reason}; {line['remarks']}"
    edited = project / "edited.jsonl"
    edited.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    last = opgate("merge", edited, "--output", "merged", folder=project).stdout.splitlines()[-1]
    assert last.count(reason) == 1
    assert f"; {len(owed)} further reasons, which results.jsonl names" in last
    assert "out of date" not in last


@pytest.mark.parametrize(
    ("word", "said"),
    [("modules", "the Python modules of the project have changed"), ("torch", "torch was x and is ")],
)
def test_evidence_ends_with_other_modules_or_another_torch(
    word: str, said: str, opgate: OpGate, project: Path
) -> None:
    keep(opgate, project, as_on_gpu(project))
    file = project / "evidence" / "identity_conv.toml"
    lines = [f'{word} = "x"' if line.startswith(word) else line for line in file.read_text().splitlines()]
    file.write_text("\n".join(lines))
    assert opgate(*RUN, folder=project).returncode == 0
    assert all(said in line["reason"] for line in of_cuda(project))


def test_evidence_of_another_revision_of_a_check_costs_that_check_alone(
    opgate: OpGate, project: Path
) -> None:
    keep(opgate, project, as_on_gpu(project))
    file = project / "evidence" / "identity_conv.toml"
    text = file.read_text()
    changed = re.sub(r'("value.layout" = .*revision = )"[^"]*"', r'\1"0.1.1"', text)
    assert changed != text
    file.write_text(changed)
    assert opgate(*RUN, folder=project).returncode == 0
    for case, line in read_results(project / ".opgate").cases.items():
        if "/cuda/" in case and case.endswith("value.layout"):
            assert line["verdict"] == "owed"
            assert line["reason"].endswith("is out of date: the check asks something else today")
        elif "/cuda/" in case:
            assert line["verdict"] == "pass"


def test_evidence_of_another_build_of_opgate_counts(opgate: OpGate, project: Path) -> None:
    results = as_on_gpu(project)
    header, *lines = results.read_text().splitlines()
    results.write_text(
        "\n".join([json.dumps(json.loads(header) | {"engine": "another build"}), *lines]) + "\n"
    )
    keep(opgate, project, results)
    assert opgate(*RUN, folder=project).returncode == 0
    assert {line["verdict"] for line in of_cuda(project)} == {"pass"}


def test_a_check_that_failed_or_did_not_run_there_is_owed(opgate: OpGate, project: Path) -> None:
    keep(opgate, project, as_on_gpu(project, failing="value.layout"))
    assert opgate(*RUN, folder=project).returncode == 0
    for case, line in read_results(project / ".opgate").cases.items():
        if "/cuda/" in case:
            owed = case.endswith("value.layout")
            assert line["verdict"] == ("owed" if owed else "pass")
            assert not owed or "evidence: NVIDIA H200 does not cover it" in line["reason"]


def test_evidence_is_no_evidence_for_more_evidence(opgate: OpGate, project: Path) -> None:
    keep(opgate, project, as_on_gpu(project))
    assert opgate(*RUN, folder=project).returncode == 0
    shutil.rmtree(project / "evidence")
    result = opgate("evidence", "--results", as_on_gpu(project), folder=project)
    assert_refused(result, "has no check that passed on a GPU")


def test_a_run_on_the_cpu_is_no_evidence(opgate: OpGate, project: Path) -> None:
    assert_refused(opgate("evidence", folder=project), "is of a machine without a GPU")


def test_a_project_without_a_place_for_evidence_is_told_how(
    opgate: OpGate, identity_project: Callable[[], Path]
) -> None:
    assert_refused(opgate("evidence", folder=identity_project()), "names no folder", "evidence = ")


def test_evidence_with_a_conflict_is_named(opgate: OpGate, project: Path) -> None:
    keep(opgate, project, as_on_gpu(project))
    file = project / "evidence" / "identity_conv.toml"
    file.write_text(file.read_text() + "<<<<<<< HEAD\n")
    assert_refused(opgate(*RUN, folder=project), "identity_conv.toml:", "a merge left a conflict here")


def test_the_page_says_where_a_verdict_is_from(opgate: OpGate, project: Path) -> None:
    keep(opgate, project, as_on_gpu(project))
    assert opgate(*RUN, folder=project).returncode == 0
    files = ["--html", "page.html", "--junit", "junit.xml", "--markdown", "comment.md"]
    assert opgate("report", *files, folder=project).returncode == 0
    for name in ("page.html", "junit.xml", "comment.md"):
        assert SAID in (project / name).read_text(), name
