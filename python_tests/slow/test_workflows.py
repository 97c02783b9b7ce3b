"""The workflows of docs/workflows: their steps, run in a plain shell, in an environment that has nothing."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from built_kernel import PROGRAM
from built_kernel import build as build_kernel
from environments import VERSION, done, run
from harness import git

pytestmark = pytest.mark.long

KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def twice_of(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, MASK) * 2, MASK)

def test_twice():
    x = torch.randn(100, device="cuda")
    y = torch.empty_like(x)
    twice_of[(1,)](x, y, 100, BLOCK=128)
    assert torch.equal(y.cpu(), x.cpu() * 2)
"""


class Runner:
    """Runs the jobs of a workflow for a project, as GitHub's runners do, in one environment."""

    def __init__(self, place: Path, action: Path) -> None:
        self.programs = place / "environment" / "bin"
        self.action = action
        self.artifacts = place / "artifacts"
        self.artifacts.mkdir()
        done(run(sys.executable, "-m", "uv", "venv", "-q", "--seed", self.programs.parent, folder=place))
        # uv has torch in its cache. What the action installs, pip installs.
        pip = self.programs / "pip"
        pip.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m uv pip "$@" -q --python "{self.programs}/python"\n'
        )

    def shell(self, command: str, project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as a step does."""
        path = f"{self.programs}:{Path(sys.executable).parent}:/usr/bin:/bin"
        return run(
            *("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", command),
            folder=project,
            variables={"PATH": path, **variables},
        )

    def job(self, steps: list[dict[str, Any]], project: Path, matrix: dict[str, Any]) -> str:
        """Runs the steps up to the first that fails. Returns what that one printed; "" if all succeed."""
        for step in steps:
            given = {name: filled(str(value), matrix) for name, value in step.get("with", {}).items()}
            if "run" in step:
                ended = self.shell(filled(step["run"], matrix).replace("2.15.0", VERSION), project)
            else:
                ended = self.use(step["uses"], given, project)
            if ended is not None and ended.returncode != 0:
                return ended.stdout + ended.stderr
        return ""

    def use(self, name: str, given: dict[str, str], project: Path) -> subprocess.CompletedProcess[str] | None:
        """Does what an action does: one of this repository, or one of GitHub's."""
        if name.startswith("OWNER/opgate/action"):
            assert name.endswith("@v0.1.0")
            folder = self.action / name.removeprefix("OWNER/opgate/action").partition("@")[0].lstrip("/")
            (step,) = [
                step
                for step in yaml.safe_load((folder / "action.yml").read_text())["runs"]["steps"]
                if "run" in step
            ]
            inputs = {f"OPGATE_ACTION_{name.upper()}": value for name, value in given.items()}
            return self.shell(step["run"], project, GITHUB_ACTION_PATH=str(folder), **inputs)
        if name.startswith("actions/upload-artifact@"):
            (self.artifacts / given["name"]).mkdir()
            shutil.copy(project / given["path"], self.artifacts / given["name"])
        elif name.startswith("actions/download-artifact@"):
            shutil.copytree(self.artifacts, project, dirs_exist_ok=True)
        else:
            assert name.startswith("actions/checkout@")
        return None


def filled(text: str, matrix: dict[str, Any]) -> str:
    """The text with the values of the matrix."""
    return re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda found: str(matrix[found[1]]), text)


@pytest.fixture(scope="module")
def runner(wheel: Path, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    # Without a space in its name: torch's compilation of extensions fails below such a folder.
    place = tmp_path_factory.mktemp("runner")
    action = shutil.copytree(source / "action", place / "the action")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (action / "release.txt").write_text(f"opgate[all] @ {wheel.as_uri()}#sha256={digest}\n")
    yield Runner(place, action)


def workflow(source: Path, name: str) -> dict[str, Any]:
    """The jobs of a workflow."""
    return yaml.safe_load((source / "docs" / "workflows" / f"{name}.yml").read_text())["jobs"]


def right_project(source: Path, place: Path, *files: str) -> Path:
    """The files of fixtures/installed, without the operator that is wrong."""
    place.mkdir()
    for file in files:
        text = (source / "fixtures" / "installed" / file).read_text()
        (place / file).write_text(text.replace('["blind", "twice"]', '["twice"]'))
    return place


def accept(project: Path, build: Path, tests: str, **variables: str) -> None:
    """Commits the project with samples of what its tests call, and with its accepted state."""

    def opgate(*words: str) -> None:
        done(run(build / "bin" / "opgate", *words, folder=project, variables=variables))

    opgate("record", "--", sys.executable, "-m", "pytest", "-q", tests)
    opgate("run", "--no-sim")
    opgate("accept", "--yes")
    (project / ".gitignore").write_text(".opgate/\nbuild/\n__pycache__/\n.pytest_cache/\n")
    git(project, "init", "--quiet", "--initial-branch", "main")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "--message", "accepted")


def test_a_library_is_gated(runner: Runner, source: Path, build: Path, tmp_path: Path) -> None:
    project = right_project(source, tmp_path / "a library", "native.cpp", "build.py", "test_native.py")
    done(runner.shell(f"{sys.executable} build.py", project))
    accept(project, build, "test_native.py", CXX="/no compiler")
    (steps,) = [job["steps"] for job in workflow(source, "library").values()]
    assert runner.job(steps, project, {}) == ""
    wrong = project / "native.cpp"
    wrong.write_text(wrong.read_text().replace("twice_of_dense(x.contiguous())", "twice_of_dense(x)"))
    assert "`x` is read as if it were dense" in runner.job(steps, project, {})


def test_kernels_of_triton_run_without_a_gpu(
    runner: Runner, source: Path, tmp_path: Path, has_simulator: bool
) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    tests = tmp_path / "kernels" / "tests" / "test_kernels.py"
    tests.parent.mkdir(parents=True)
    (steps,) = [job["steps"] for job in workflow(source, "triton").values()]
    tests.write_text(KERNEL.replace("MASK", "at < n"))
    assert runner.job(steps, tmp_path / "kernels", {}) == ""
    tests.write_text(KERNEL.replace(", MASK", ""))
    assert "twice_of" in runner.job(steps, tmp_path / "kernels", {})


def test_a_kernel_of_kernel_builder_is_checked(runner: Runner, source: Path, tmp_path: Path) -> None:
    build_kernel(tmp_path, "30dc0ae")
    (tmp_path / "program.py").write_text(PROGRAM)
    (steps,) = [job["steps"] for job in workflow(source, "kernel_builder").values()]
    assert runner.job(steps, tmp_path, {}) == ""


def test_four_jobs_share_a_gate(runner: Runner, source: Path, build: Path, tmp_path: Path) -> None:
    project = right_project(source, tmp_path / "a library", "mine.py", "test_mine.py")
    accept(project, build, "test_mine.py", PYTHONPATH=str(project))
    jobs = workflow(source, "shards")
    for number in jobs["shard"]["strategy"]["matrix"]["shard"]:
        assert runner.job(jobs["shard"]["steps"], project, {"shard": number}) == ""
        shutil.rmtree(project / f"shard-{number}")  # the next job has another machine
    assert len(list(runner.artifacts.iterdir())) == 4
    assert runner.job(jobs["gate"]["steps"], project, {}) == ""
