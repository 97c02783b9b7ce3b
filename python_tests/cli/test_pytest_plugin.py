"""pytest --opgate: one item for each operator and check, with findings as the command line prints them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate

MODULE = """
import opgate
import torch


@torch.library.custom_op("plugin::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).contiguous()


@doubled.register_fake
def _(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@opgate.spec("plugin::doubled")
def spec(spec: opgate.OpSpec) -> None:
    spec.dtypes(torch.float32, device="cpu").dtypes(torch.float32, device="cuda")
    spec.reference(lambda x: x * 3).accuracy(opgate.exact())
    spec.sample(opgate.uniform(4, 6))
"""

Pytest = Callable[..., Completed]


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    """An operator that doubles, with a reference that triples: only its values are wrong."""
    folder = new_project(libraries=[], specs=[], python=["plugin_specs"], python_path=["."])
    (folder / "plugin_specs.py").write_text(MODULE)
    return folder


@pytest.fixture
def run_pytest(opgate: OpGate, project: Path) -> Pytest:
    """Runs `pytest --opgate` in the project."""

    def run(*words: str) -> Completed:
        command = [sys.executable, "-m", "pytest", "-p", "opgate.pytest_plugin", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, "--opgate", "opgate.toml", *words],
            cwd=project,
            env={**os.environ, "OPGATE": str(opgate.program)},
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )

    return run


def test_items_are_named_after_operator_check_and_device(run_pytest: Pytest) -> None:
    listed = run_pytest("--collect-only", "-q", "-k", "doubled and effect").stdout.splitlines()
    assert "opgate.toml::doubled/effect.mutation/cpu" in listed
    assert "opgate.toml::doubled/effect.alias/cuda" in listed
    assert not any("value." in line for line in listed)


def test_what_is_selected_is_run_and_passes(run_pytest: Pytest) -> None:
    result = run_pytest("-q", "-k", "effect and cpu")
    assert result.returncode == 0, result.stdout
    assert "4 passed" in result.stdout


def test_a_finding_is_shown_as_the_command_line_does_and_without_a_stack(run_pytest: Pytest) -> None:
    result = run_pytest("-q", "-k", "value.reference and cpu")
    assert result.returncode == 1, result.stdout
    assert "FAIL value.reference · doubled · float32 · 4x6 · contiguous · cpu" in result.stdout
    assert "opgate repro 'doubled/float32/4x6/contiguous/cpu/value.reference'" in result.stdout
    assert "promised" in result.stdout
    assert "opgate explain value.reference" in result.stdout
    assert "pytest_plugin.py" not in result.stdout


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_defect_is_told_once_and_named_in_the_other_items(
    run_pytest: Pytest, ci: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where CI is set, pytest writes whole messages into its summary.
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    if ci:
        monkeypatch.setenv("CI", ci)
    result = run_pytest("-q", "-k", "(value.reference or value.empty) and cpu")
    assert result.returncode == 1, result.stdout
    assert result.stdout.count("promised") == 1, result.stdout
    assert "doubled: the result is not the reference's (1 case)" in result.stdout
    assert "told by    doubled/value.reference/cpu" in result.stdout


def test_what_is_owed_is_skipped_with_its_reason(run_pytest: Pytest, has_gpu: bool) -> None:
    result = run_pytest("-q", "-rs", "-k", "effect.mutation and cuda")
    assert result.returncode == 0, result.stdout
    assert has_gpu or "owed: " in result.stdout


def test_a_broken_project_is_a_usage_error(run_pytest: Pytest) -> None:
    result = run_pytest("--opgate", "none.toml")
    assert result.returncode == 4, result.stdout
    assert "none.toml" in result.stderr


def test_without_the_option_nothing_is_added(run_pytest: Pytest) -> None:
    told = run_pytest("--help").stdout
    assert "unrecognized" not in told
    assert "--opgate=FILE" in told.replace(" ", "")
