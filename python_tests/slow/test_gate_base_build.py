"""opgate gate --base with a build or a commit: both are run, old packages are tried, speeds are compared."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import Completed, OpGate, git

LIBRARY = "libopgate_changes.so"
QUICK = ["--no-speed", "--op", "scale"]


@dataclass(frozen=True)
class Project:
    """A project whose library's state is named by OPGATE_CHANGES, and a build of it in another state."""

    opgate: OpGate
    folder: Path
    libraries: Path

    def build_in(self, state: str) -> Path:
        """A folder as a build leaves it: the library, and an opgate of its own that is in `state`."""
        build = self.folder / f"build in state {state}"
        if not build.exists():
            (build / "lib").mkdir(parents=True)
            (build / "bin").mkdir()
            (build / "lib" / LIBRARY).symlink_to(self.libraries / LIBRARY)
            program = build / "bin" / "opgate"
            program.write_text(f"#!/bin/sh\nOPGATE_CHANGES={state} exec '{self.opgate.program}' \"$@\"\n")
            program.chmod(0o755)
        return build

    def gate(self, base: str, head: str, *options: str) -> Completed:
        """The gate for the step between two states."""
        return self.opgate(
            "gate",
            *("--base", self.build_in(base), *options),
            folder=self.folder,
            environment={"OPGATE_CHANGES": head},
            timeout=1800,
        )


@pytest.fixture(scope="module")
def project(opgate: OpGate, build: Path, new_project: Callable[..., Path]) -> Project:
    folder = new_project(libraries=[LIBRARY], waivers="waivers.toml")
    (folder / "waivers.toml").touch()
    return Project(opgate, folder, build / "lib")


@pytest.mark.exhaustive
# Each state has a word, so that what the library does to know its state costs the same on both sides.
def test_a_refactoring_is_accepted_with_the_packages_and_speed_of_the_base(project: Project) -> None:
    result = project.gate("first", "first,refactored", *QUICK)
    assert result.returncode == 0, result
    assert "base: running the build in" in result.stdout
    assert "\naccepted in part: " in result.stdout


@pytest.mark.exhaustive
def test_a_package_of_the_base_survives_an_argument_with_a_default(project: Project) -> None:
    result = project.gate("first", "longer", *QUICK)
    assert result.returncode == 0, result
    assert "the schema changed so that callers still fit" in result.stdout
    assert "compiled before" not in result.stdout


@pytest.mark.exhaustive
def test_a_package_of_the_base_that_breaks_is_refused(project: Project) -> None:
    result = project.gate("first", "columns", *QUICK)
    assert result.returncode == 1
    said = "a package that was compiled before: the package raises: expected size 4==4, stride 1==8"
    assert said in result.stdout
    assert ".pt2" in result.stdout
    assert "frame #" not in result.stdout


@pytest.mark.exhaustive
def test_a_package_that_must_go_on_working_is_asked_beside_any_base(project: Project) -> None:
    """`packages` in opgate.toml names it; here it holds an operator that is gone."""
    whole = project.folder / "whole"
    run = ["run", "--check", "aoti.cpp", "--output", whole]
    assert project.opgate(*run, folder=project.folder, timeout=1800).returncode == 0
    (package,) = whole.glob("packages/cpu-*.pt2")
    configuration = project.folder / "opgate.toml"
    before = configuration.read_text()
    configuration.write_text(before + f'packages = ["{package.relative_to(project.folder)}"]\n')
    try:
        result = project.gate("first", "no_overload", *QUICK)
    finally:
        configuration.write_text(before)
    assert result.returncode == 1
    assert "needs opgate_changes::scale.twice, which no loaded library defines" in result.stdout


@pytest.mark.exhaustive
def test_a_slower_operator_is_refused_and_a_faster_one_is_said_to_be_better(project: Project) -> None:
    slower = project.gate("first", "slow", "--op", "scale")
    assert slower.returncode == 1, slower
    assert "is slower: 0." in slower.stdout
    assert "times the speed of the base" in slower.stdout
    assert "scale 64x64,3. float32 forward cpu, 1 thread" in slower.stdout
    faster = project.gate("slow", "first", "--op", "scale")
    assert faster.returncode == 0, faster
    assert "is faster: " in faster.stdout.partition("better")[2]


@pytest.mark.exhaustive
def test_a_commit_is_checked_out_built_and_run_once(
    opgate: OpGate, build: Path, new_project: Callable[..., Path]
) -> None:
    """The state is in the configuration, so that each commit has its own."""
    folder = new_project(libraries=["built/" + LIBRARY], waivers="waivers.toml", ledger="ledger")
    (folder / "waivers.toml").touch()
    (folder / ".gitignore").write_text("/.opgate/\n/built/\n")
    made = f"mkdir -p built && cp '{build}/lib/{LIBRARY}' built/"
    configuration = folder / "opgate.toml"
    text = configuration.read_text() + f'build = {{ command = """{made}""" }}\n'

    configuration.write_text(text + 'environment = { OPGATE_CHANGES = "first" }\n')
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    configuration.write_text(text + 'environment = { OPGATE_CHANGES = "inaccurate" }\n')
    subprocess.run(made, shell=True, cwd=folder, check=True)

    gate = ["gate", "--base", "HEAD", "--op", "scale", "--no-speed"]
    result = opgate(*gate, folder=folder, timeout=1800)
    assert result.returncode == 1, result
    assert "base: building HEAD (" in result.stdout
    assert "base: running HEAD (" in result.stdout
    assert "worst error" in result.stdout
    again = opgate(*gate, "--results", ".opgate/results.jsonl", folder=folder, timeout=1800)
    assert again.returncode == 1, again
    assert ") was run before" in again.stdout
    assert again.stdout.partition("refused")[2] == result.stdout.partition("refused")[2]
