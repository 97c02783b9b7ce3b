"""opgate gate --base with an invalid base is refused in one line, before anything runs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, assert_refused, complaints, git


@pytest.fixture
def repository(new_project: Callable[..., Path]) -> Path:
    """A project in a git repository of one commit, with a recipe that builds nothing."""
    project = new_project(libraries=["libopgate_changes.so"], waivers="waivers.toml")
    (project / "waivers.toml").touch()
    (project / ".gitignore").write_text(".opgate/\n")
    recipe(project, "true")
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "first")
    return project


def recipe(project: Path, command: str) -> None:
    file = project / "opgate.toml"
    kept = [line for line in file.read_text().splitlines() if not line.startswith("build")]
    file.write_text("\n".join([*kept, f"build = {{ command = '''{command}''' }}", ""]))


def test_a_base_that_is_nothing_at_all_is_named(opgate: OpGate, repository: Path) -> None:
    result = opgate("gate", "--base", "no-such-branch", folder=repository)
    assert_refused(result, "no-such-branch: ", "no such file or folder", "no such commit")


def test_a_commit_needs_a_repository(opgate: OpGate, new_project: Callable[..., Path]) -> None:
    project = new_project(libraries=["libopgate_changes.so"])
    result = opgate("gate", "--base", "HEAD", folder=project)
    assert_refused(result, "HEAD: ", "no such file or folder", "is in no git repository")


def test_a_commit_needs_a_recipe(opgate: OpGate, repository: Path) -> None:
    file = repository / "opgate.toml"
    file.write_text(file.read_text().partition("build")[0])
    result = opgate("gate", "--base", "HEAD", folder=repository)
    assert_refused(result, "does not say how one is built", "build = { command")


@pytest.mark.parametrize(
    "text", ['"make"', "{ folder = 'x' }", "{ command = 3 }", "{ command = 'x', at = 'y' }"]
)
def test_a_recipe_that_is_none_is_named_with_its_line(text: str, opgate: OpGate, repository: Path) -> None:
    (repository / "opgate.toml").write_text(f"libraries = []\nbuild = {text}\n")
    assert_refused(opgate("gate", folder=repository), "opgate.toml:2: `build` must be a table such as")


def test_a_base_that_cannot_be_built_says_what_the_build_said(opgate: OpGate, repository: Path) -> None:
    recipe(repository, "echo no compiler here >&2; exit 3")
    result = opgate("gate", "--base", "HEAD", folder=repository)
    assert_refused(result, "HEAD (", "cannot be built", "exit status 3", "no compiler here", "build.log")


def test_a_commit_without_a_configuration_is_named(opgate: OpGate, repository: Path) -> None:
    git(repository, "rm", "--quiet", "--cached", "opgate.toml")
    git(repository, "commit", "--quiet", "-m", "without")
    result = opgate("gate", "--base", "HEAD", folder=repository)
    assert_refused(result, "HEAD (", "has no ", "opgate.toml")


def test_a_folder_without_the_libraries_is_refused(opgate: OpGate, repository: Path) -> None:
    (repository / "empty").mkdir()
    result = opgate("gate", "--base", "empty", folder=repository)
    assert result.returncode == 2
    said = complaints(result)
    assert "library libopgate_changes.so is missing; looked in" in said[0]
    assert "the build in" in said[1]
    assert "cannot be run" in said[1]


def test_an_interrupted_build_of_the_base_ends_the_gate(opgate: OpGate, repository: Path) -> None:
    recipe(repository, "touch begun; exec sleep 3600")
    gate = subprocess.Popen(
        [opgate.program, "gate", "--base", "HEAD"],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    base = repository / ".opgate" / "base"
    while gate.poll() is None and not list(base.glob("*/checkout/begun")):
        time.sleep(0.02)
    another = opgate("gate", "--base", "HEAD", folder=repository)
    assert_refused(another, "another run uses HEAD (", "wait for it")
    os.kill(gate.pid, signal.SIGTERM)  # only the gate's own lines, which name the build
    said = gate.communicate(timeout=1800)[1]
    assert gate.returncode == 130, said
    assert "interrupted" in said
