"""`opgate mutate` on a project that has one operator: what it reports, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import Completed, OpGate, git

pytestmark = pytest.mark.long

pytest.importorskip("tree_sitter_cuda")

CHECKS = ["--check", "value", "memory", "error", "fake.metadata", "--device", "cpu"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    """The project, built, in a folder with a space."""
    folder = tmp_path_factory.mktemp("some rows") / "project"
    shutil.copytree(source / "fixtures" / "mutation", folder)
    environment = os.environ | {"OPGATE_PYTHON": sys.executable}
    subprocess.run(["./build.sh"], cwd=folder, env=environment, check=True)
    return folder


def mutants(project: Path) -> list[dict[str, Any]]:
    """All mutants of the last command."""
    return [json.loads(line) for line in (project / ".opgate" / "mutants.jsonl").read_text().splitlines()]


def changes(project: Path, fate: str) -> set[tuple[str, str, str]]:
    """The mutants that had this fate: their functions, what they change, and into what."""
    return {
        (each["function"].partition("(")[0], each["original"], each["mutated"])
        for each in mutants(project)
        if each["fate"] == fate
    }


@pytest.fixture(scope="module")
def scored(opgate: OpGate, project: Path) -> Completed:
    """The command with all samples of the specs."""
    return opgate("mutate", *CHECKS, "--least", "90", folder=project)


def test_all_mistakes_but_one_are_noticed(scored: Completed, project: Path) -> None:
    assert scored.returncode == 0, scored
    # The spec does not promise fake_refuses.
    assert changes(project, "survived") == {("row_scale_meta", "check(x, weight);", "")}
    assert changes(project, "equivalent") == {("row_scale", "begin < columns", "begin <= columns")}
    killed = [each for each in mutants(project) if each["fate"] == "killed"]
    assert len(killed) >= 36
    assert all(each["killer"]["case"].startswith("row_scale/") for each in killed)


def test_a_survivor_is_shown_as_a_diff_and_the_score_comes_last(scored: Completed) -> None:
    assert ":3  deletion in row_scale_meta (" in scored.stdout
    assert "    - check(x, weight);\n    + (nothing)\n" in scored.stdout
    last = scored.stdout.splitlines()[-1]
    assert last.startswith("97.") and " are noticed: " in last, last
    assert "1 survived, 1 equivalent, 1 not reached" in last, last


def test_the_library_of_the_project_has_no_mutants(scored: Completed, opgate: OpGate, project: Path) -> None:
    assert scored.returncode == 0
    run = opgate("run", *CHECKS, folder=project)
    assert run.returncode == 0, run
    assert b"opgate_choose_mutant" not in (project / "librows.so").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: there is no source of C++, CUDA, PTX or Python"),
        (["--kind", "nonsense"], "no mutant is of the kind 'nonsense'; there are accumulator, "),
        (["--without", "row_*"], "all 1 sources of src are left out by row_*"),
    ],
)
def test_what_cannot_be_changed_is_reported(
    opgate: OpGate, project: Path, words: list[str], message: str
) -> None:
    refused = opgate("mutate", *words, folder=project)
    assert refused.returncode == 2, refused
    assert message in refused.stderr, refused


def test_a_build_that_fails_without_a_mutant_is_reported(opgate: OpGate, project: Path) -> None:
    broken = shutil.copytree(project, project.parent / "broken", ignore=shutil.ignore_patterns(".opgate"))
    (broken / "build.sh").write_text("#!/bin/sh\necho this compiler is missing\nexit 3\n")
    refused = opgate("mutate", folder=broken)
    assert refused.returncode == 2, refused
    assert "no mutant is the reason" in refused.stderr, refused
    assert "this compiler is missing" in refused.stderr, refused


def test_a_project_that_does_not_say_what_to_change_is_told_how(opgate: OpGate, project: Path) -> None:
    silent = shutil.copytree(project, project.parent / "silent", ignore=shutil.ignore_patterns(".opgate"))
    (silent / "opgate.toml").write_text('libraries = ["librows.so"]\npython = ["row_specs"]\n')
    refused = opgate("mutate", folder=silent)
    assert refused.returncode == 2, refused
    assert 'mutation = { sources = ["src"] }' in refused.stderr, refused


def test_only_the_lines_of_a_change_are_changed(opgate: OpGate, project: Path) -> None:
    changed = shutil.copytree(project, project.parent / "changed", ignore=shutil.ignore_patterns(".opgate"))
    (changed / ".gitignore").write_text("*.so\n*.o\n.opgate/\n")
    git(changed, "init", "-q")
    git(changed, "add", "-A")
    git(changed, "commit", "-qm", "before")
    nothing = opgate("mutate", "--diff", "HEAD", "--least", "100", folder=changed)
    assert nothing.returncode == 0, nothing
    assert nothing.stdout == "the lines that differ from HEAD have no mutants\n"
    assert mutants(changed) == []
    unknown = opgate("mutate", "--diff", "nowhere", folder=changed)
    assert unknown.returncode == 2, unknown
    assert "--diff nowhere: " in unknown.stderr, unknown
    source = changed / "src" / "row_scale.cpp"
    source.write_text(source.read_text().replace("x.size(1);", "x.sizes()[1];"))
    scored = opgate("mutate", "--diff", "HEAD", *CHECKS, folder=changed)
    assert scored.returncode == 0, scored
    assert {each["original"] for each in mutants(changed)} == {"x.sizes()", "1"}


def test_without_the_large_sample_more_survive_which_a_slow_check_would_notice(
    scored: Completed, opgate: OpGate, project: Path
) -> None:
    """One row of three elements shows few mistakes; explore.samples draws larger samples."""
    assert scored.returncode == 0, "with all samples, the score is the one that --least asks for"
    words = ["--kind", "layout", "--kind", "strides", *CHECKS, "--check", "explore.samples"]
    few = {"WEAK_SAMPLES": "1"}
    weak = opgate("mutate", *words, "--least", "90", folder=project, environment=few)
    assert weak.returncode == 1, weak
    assert weak.stdout.endswith("the score is below 90 %, which --least asks for\n"), weak
    survivors = [each for each in mutants(project) if each["fate"] == "survived"]
    assert "weight.contiguous()" in {each["original"] for each in survivors}
    noticed = [each for each in survivors if "killer" in each]
    assert noticed, weak
    assert all(each["killer"]["case"].endswith("/explore.samples") for each in noticed)
    assert weak.stdout.count("explore.samples would notice it (--slow): float32, sample 'explored ") == len(
        noticed
    )
    slow = opgate("mutate", *words, "--slow", folder=project, environment=few)
    assert {each["number"] for each in noticed} <= {
        each["number"] for each in mutants(project) if each["fate"] == "killed"
    }, slow


NEGATE = """
#include <ATen/ops/neg.h>
#include <torch/library.h>
at::Tensor row_negate(const at::Tensor& x) { return -x; }
TORCH_LIBRARY_FRAGMENT(rows, m) { m.def("row_negate(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(rows, CPU, m) { m.impl("row_negate", &row_negate); }
"""
NEGATE_SPEC = """

@opgate.spec("rows::row_negate")
def row_negate(spec: opgate.OpSpec) -> None:
    spec.dtypes(torch.float32)
    spec.accuracy(opgate.exact())
    spec.reference(lambda x: -x)
    spec.sample(opgate.uniform(2, 3))
"""


def test_the_sources_of_operators_that_are_not_chosen_are_left_alone(opgate: OpGate, project: Path) -> None:
    two = shutil.copytree(project, project.parent / "two", ignore=shutil.ignore_patterns(".opgate"))
    (two / "src" / "row_negate.cpp").write_text(NEGATE)
    with (two / "row_specs.py").open("a") as specs:
        specs.write(NEGATE_SPEC)
    subprocess.run(["./build.sh"], cwd=two, env=os.environ | {"OPGATE_PYTHON": sys.executable}, check=True)
    others = opgate("list", "others", "--op", "row_negate", folder=two)
    assert others.stdout == "src/row_scale.cpp\n", others
    scored = opgate(
        "mutate", "--check", "value.reference", "--device", "cpu", "--op", "row_negate", folder=two
    )
    assert scored.returncode == 0, scored
    assert {each["file"] for each in mutants(two)} == {"src/row_negate.cpp"}
    assert {each["fate"] for each in mutants(two)} == {"killed"}
    named = opgate("mutate", "src", "--without", "row_negate*", "--op", "row_negate", folder=two)
    assert named.returncode == 2, named
    assert "all 1 sources of src are those of operators that --op leaves out" in named.stderr, named
