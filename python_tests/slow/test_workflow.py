"""The CI workflow: what its steps run, run here, shard by shard, with a small plan in place of all."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness import Completed, read_results

SMALL = "--op identity_conv --check value.dtype value.layout"


@pytest.fixture(scope="module")
def workflow(source: Path) -> dict[str, Any]:
    return yaml.safe_load((source / ".github" / "workflows" / "gate.yml").read_text())


def commands(workflow: dict[str, Any], job: str) -> dict[str, str]:
    """The shell commands of a job's steps, by name."""
    return {step["name"]: step["run"] for step in workflow["jobs"][job]["steps"] if "run" in step}


@pytest.fixture
def checkout(build: Path, identity_project: Callable[[], Path]) -> Path:
    """A project with an opgate where the workflow has it, whose runs are small."""
    project = identity_project()
    (project / ".venv" / "bin").mkdir(parents=True)
    program = project / ".venv" / "bin" / "opgate"
    real = f"'{build}/bin/opgate'"
    program.write_text(
        f'#!/bin/sh\n[ "$1" != run ] || exec {real} "$@" {SMALL}\nexec {real} "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    with (project / "opgate.toml").open("a") as configuration:
        configuration.write('ledger = "ledger"\n')
    return project


def run(command: str, folder: Path, **environment: str) -> Completed:
    """Runs it as a CI runner does: `bash -e -o pipefail`."""
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


@pytest.mark.long
def test_its_steps_make_one_run_of_all_shards_and_gate_it(workflow: dict[str, Any], checkout: Path) -> None:
    shard = workflow["jobs"]["shard"]
    numbers = shard["strategy"]["matrix"]["shard"]
    count = str(shard["env"]["SHARDS"])
    assert numbers == list(range(1, int(count) + 1))
    for attempt in ("without costs", "with costs"):
        for number in numbers:
            result = run(commands(workflow, "shard")["Run"], checkout, SHARD=str(number), SHARDS=count)
            assert result.returncode == 0, (attempt, result)
            place = checkout / "shards" / f"shard-{number}"  # as the artifacts come back
            place.mkdir(parents=True, exist_ok=True)
            shutil.move(checkout / "results" / "results.jsonl", place / "results.jsonl")
        gate = commands(workflow, "gate")
        merged = run(gate["Merge"], checkout)
        assert merged.returncode == 0, merged
        assert read_results(checkout / "merged").finished
        # There is no ledger of such a part: the gate says so, and the report is written all the same.
        refused = run(gate["Gate"], checkout, ACCEPTED="false", BASE_BRANCH="")
        assert refused.returncode == 2
        assert "there is no ledger" in refused.stderr
        # A pull request is judged by the ledger of the branch that it changes, until a reviewer takes it.
        of_branch = run(gate["Gate"], checkout, ACCEPTED="false", BASE_BRANCH="main")
        assert "origin/main: there is no such file or folder" in of_branch.stderr
        assert run(gate["Gate"], checkout, ACCEPTED="true", BASE_BRANCH="main").stderr == refused.stderr
        summary = checkout / "summary.md"
        assert run(gate["Report"], checkout, GITHUB_STEP_SUMMARY=str(summary)).returncode == 0
        assert "## OpGate: all promises kept" in summary.read_text()
        assert (checkout / "merged" / "opgate.sarif").exists()
        assert run(gate["Keep the costs"], checkout).returncode == 0


def test_it_is_built_once_and_every_other_job_takes_that_build(
    workflow: dict[str, Any], tmp_path: Path
) -> None:
    jobs = workflow["jobs"]
    building = [
        name for name in jobs if "ci/gate --build-only" in " ".join(commands(workflow, name).values())
    ]
    assert building == ["build"]
    (tmp_path / "build" / "lib").mkdir(parents=True)
    (tmp_path / "build" / "lib" / "libmine.so").write_text("a library")
    (tmp_path / "build" / "lib" / "mine.o").write_text("an object")
    assert run(commands(workflow, "build")["Pack"], tmp_path).returncode == 0
    shutil.rmtree(tmp_path / "build")
    for job in ("shard", "gate"):
        needed = [jobs[job]["needs"]] if isinstance(jobs[job]["needs"], str) else jobs[job]["needs"]
        assert "build" in needed or "shard" in needed
        assert run(commands(workflow, job)["Unpack"], tmp_path).returncode == 0
        assert [file.name for file in (tmp_path / "build").rglob("*.*")] == ["libmine.so"]
        assert commands(workflow, job)["Set up"] == "ci/gate --no-build"
    assert commands(workflow, "test")["Test"].endswith(" .ci/run")


def test_a_shard_that_could_not_run_fails_its_job(workflow: dict[str, Any], checkout: Path) -> None:
    (checkout / "opgate.toml").write_text("libraries = ['no_such.so']\n")
    result = run(commands(workflow, "shard")["Run"], checkout, SHARD="1", SHARDS="4")
    assert result.returncode != 0
    assert "library no_such.so is missing" in result.stderr
