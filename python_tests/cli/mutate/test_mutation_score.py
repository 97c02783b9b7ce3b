"""opgate gate asks for a least score of the lines that a change has touched, if opgate.toml does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import Completed, OpGate, git

pytestmark = pytest.mark.long

pytest.importorskip("tree_sitter_cuda")

GATE = ["gate", "--results", ".opgate/results.jsonl", "--ledger-of", "HEAD"]
WITHOUT_COMPILER = {"CXX": "no-such-c++"}  # what torch would compile is owed, and takes most of the time


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory, source: Path, opgate: OpGate) -> Path:
    """A repository with a ledger, whose opgate.toml asks for 80 %, and the results of its library."""
    folder = tmp_path_factory.mktemp("a scored project") / "project"
    shutil.copytree(source / "fixtures" / "mutation", folder)
    config = folder / "opgate.toml"
    config.write_text('ledger = "ledger"\n' + config.read_text() + "least = 80\n")
    (folder / ".gitignore").write_text("*.so\n*.o\n.opgate/\n__pycache__/\n")
    environment = os.environ | {"OPGATE_PYTHON": sys.executable}
    subprocess.run(["./build.sh"], cwd=folder, env=environment, check=True)
    assert opgate("run", folder=folder, environment=WITHOUT_COMPILER).returncode == 0
    assert opgate("accept", folder=folder).returncode == 0
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "the accepted state")
    return folder


@pytest.fixture
def project(accepted: Path) -> Path:
    """The repository without a change."""
    git(accepted, "checkout", "-q", "--", ".")
    return accepted


def change(project: Path, old: str, new: str) -> None:
    """Changes the source. The results remain those of the library, which is not built again."""
    source = project / "src" / "row_scale.cpp"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))


def change_what_nothing_notices(project: Path) -> None:
    """Four mutants, one of which survives: the spec does not promise fake_refuses."""
    change(project, "x.size(1);", "x.sizes()[1];")
    change(
        project,
        "x, const at::Tensor& weight) {\n  check(x, weight);\n  return",
        "x, const at::Tensor& weight) {\n  check(x, weight);  // as the CPU\n  return",
    )


def without_a_word(result: Completed) -> bool:
    """Whether the change was accepted, and no score was asked for."""
    return result.returncode == 0 and "mutation.score" not in result.stdout


def test_a_change_below_the_least_score_is_refused_with_what_nothing_notices(
    opgate: OpGate, project: Path
) -> None:
    """A lower number in the change itself does not change what the base asks for."""
    change_what_nothing_notices(project)
    config = project / "opgate.toml"
    config.write_text(config.read_text().replace("least = 80", "least = 10"))
    refused = opgate(*GATE, folder=project, environment=WITHOUT_COMPILER)
    assert refused.returncode == 1, refused
    assert "3 of 4 mistakes in the changed lines are noticed (75.0 %); mutation.least asks for 80 %" in (
        refused.stdout
    ), refused
    assert "nothing notices: check(x, weight); -> (nothing) in row_scale_meta" in refused.stdout, refused
    assert "src/row_scale.cpp:34" in refused.stdout, refused
    assert "survived" in (project / ".opgate" / "mutation" / "report.txt").read_text()


def test_a_change_above_the_least_score_is_accepted(opgate: OpGate, project: Path) -> None:
    change(project, "x.size(1);", "x.sizes()[1];")
    result = opgate(*GATE, folder=project, environment=WITHOUT_COMPILER)
    assert result.returncode == 0, result
    assert "scores the changed lines" in result.stdout


def test_a_change_without_mutants_is_accepted(opgate: OpGate, project: Path) -> None:
    change(project, "constexpr int64_t kBlock = 16;", "constexpr int64_t kBlock = 16;  // elements")
    result = opgate(*GATE, folder=project, environment=WITHOUT_COMPILER)
    assert without_a_word(result), result
    report = (project / ".opgate" / "mutation" / "report.txt").read_text()
    assert "have no mutants" in report, report


def test_no_score_is_asked_for_without_a_commit_or_on_demand(opgate: OpGate, project: Path) -> None:
    change_what_nothing_notices(project)
    for words in (GATE[:3], [*GATE, "--no-mutants"]):
        result = opgate(*words, folder=project)
        assert without_a_word(result), result
        assert "scores the changed lines" not in result.stdout, result


def test_lines_that_cannot_be_scored_end_the_gate(opgate: OpGate, project: Path) -> None:
    change_what_nothing_notices(project)
    change(project, "int64_t columns = x", "int64_t columns = unknown")
    result = opgate(*GATE, folder=project, environment=WITHOUT_COMPILER)
    assert result.returncode == 2, result
    assert "no mutant is the reason" in result.stderr, result
    assert "--no-mutants leaves it out" in result.stderr, result
