"""ci/slurm/submit: a run as an array of shards and their merge, on a running Slurm."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import FASTEST, Completed, OpGate, read_results


def is_up() -> bool:
    """Whether a node takes jobs."""
    if shutil.which("sinfo") is None:
        return False
    told = subprocess.run(["sinfo", "--noheader"], capture_output=True, text=True, timeout=1800, check=False)
    return any(state in told.stdout for state in (" idle", " mix", " alloc"))


pytestmark = pytest.mark.skipif(
    not is_up(), reason="no Slurm is up here; ci/slurm/setup makes one of this machine"
)


@pytest.fixture
def submit(opgate: OpGate, source: Path, identity_project: Callable[[], Path]) -> Callable[..., Completed]:
    project = identity_project()
    script = OpGate(source / "ci" / "slurm" / "submit", project)

    def run(*arguments: str | Path) -> Completed:
        return script(*arguments, environment={"OPGATE": str(opgate.program)}, timeout=1800)

    return run


def test_shards_and_merge_are_the_whole_run(submit: Callable[..., Completed], tmp_path: Path) -> None:
    output = tmp_path / "shared folder"
    result = submit("--shards", "3", "--output", output, "--wait", "--", *FASTEST)
    assert result.returncode == 0, result
    assert "from 3 shards" in result.stdout
    results = read_results(output)
    assert results.header["shard"] == "1/1"
    assert results.finished
    assert len(results.cases) == results.header["cases"]


def test_a_shard_that_did_not_end_is_missed(submit: Callable[..., Completed], tmp_path: Path) -> None:
    result = submit("--shards", "2", "--output", tmp_path, "--wait", "--", "--check", "no such check")
    assert result.returncode == 2, result
    assert "shard-1/results.jsonl" in result.stdout


def test_what_is_missing_is_said(submit: Callable[..., Completed]) -> None:
    result = submit("--shards", "2")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--output is missing" in result.stderr
