"""`opgate sim --changed-since REV` runs the tests that reach a kernel which has changed since a commit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness import OpGate

pytest.importorskip("triton")
pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")

FILES = {
    "scale.py": """
import triton
import triton.language as tl

@triton.jit
def scaled(x):
    return x * 2
""",
    "kernels.py": """
import scale
import torch
import triton
import triton.language as tl

@triton.jit
def scale_all(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, scale.scaled(tl.load(x + at, mask=at < n)), mask=at < n)

def twice(x):
    y = x.clone()
    scale_all[(1,)](y, y.numel(), B=64)
    return y
""",
    "other.py": """
import torch
import triton
import triton.language as tl

@triton.jit
def negate_all(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, -tl.load(x + at, mask=at < n), mask=at < n)

def negated(x):
    y = x.clone()
    negate_all[(1,)](y, y.numel(), B=64)
    return y
""",
    "test_twice.py": """
import pytest
import torch
from kernels import twice

@pytest.fixture(scope="module")
def result():
    return twice(torch.ones(8, device="cuda"))

def test_first(result):
    assert result[0].item() == 2

def test_of_all(result):
    assert result.sum().item() == 16
""",
    "test_negated.py": """
import torch
import torch.utils._pytree  # imports no kernel
from other import negated

def test_negated():
    assert negated(torch.ones(8, device="cuda")).sum().item() == -8

def test_wrong():
    assert negated(torch.ones(8, device="cuda")).sum().item() == 8

def test_without_a_kernel():
    assert torch.ones(8).sum().item() == 8
""",
    ".gitignore": "recorded\n__pycache__\n",
}
ALWAYS = {"test_negated.py::test_wrong", "test_negated.py::test_without_a_kernel"}
OF_TWICE = {"test_twice.py::test_first", "test_twice.py::test_of_all"}
ALL = ALWAYS | OF_TWICE | {"test_negated.py::test_negated"}


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=Author", "-c", "user.email=author@example.org")
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "a library"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "All")
    return folder


def test_only_tests_that_reach_a_changed_kernel_run(opgate: OpGate, library: Path) -> None:
    sim = ("sim", "--tool", "memory", "--seconds", "0", "--changed-since", "HEAD", "--")
    tests = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")

    def chosen() -> tuple[set[str], str]:
        """The tests that would run, and the line that says why."""
        run = opgate(*sim, *tests, "--collect-only", folder=library)
        assert run.returncode == 0, run
        lines = run.stdout.splitlines()
        return {line for line in lines if "::" in line}, next(
            line for line in lines if "changed since" in line
        )

    first = opgate(*sim, *tests, folder=library)
    assert "does not know yet what they reach" in first.stdout
    assert "1 failed, 4 passed" in first.stdout, first
    names, why = chosen()
    assert names == ALWAYS
    assert why == (
        "opgate sim: changed since HEAD: no source; "
        "tests that are known to reach other kernels only are left out"
    )
    (library / "README.md").write_text("Kernels.\n")
    assert chosen()[0] == ALWAYS
    with (library / "other.py").open("a") as file:
        file.write("# A comment.\n")
    assert chosen()[0] == ALL - OF_TWICE
    git(library, "checkout", "other.py")
    with (library / "scale.py").open("a") as file:
        file.write("# A comment.\n")
    assert chosen()[0] == ALWAYS | OF_TWICE, "the file of a function that the kernel calls"
    (library / "new.py").write_text("")
    names, why = chosen()
    assert names == ALL
    assert why.endswith("all tests run, because it is not known which of them reach new.py")


def test_that_no_test_has_to_run_is_no_failure(opgate: OpGate, library: Path) -> None:
    sim = ("sim", "--tool", "memory", "--seconds", "0", "--changed-since", "HEAD", "--")
    tests = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_twice.py")
    assert "2 passed" in opgate(*sim, *tests, folder=library).stdout
    run = opgate(*sim, *tests, folder=library)
    assert (run.returncode, "2 deselected" in run.stdout) == (0, True), run


def test_a_revision_that_git_does_not_know_is_refused(opgate: OpGate, library: Path) -> None:
    run = opgate("sim", "--changed-since", "no-such", "--", "true", folder=library)
    assert run.returncode == 2
    assert "--changed-since no-such: git knows no such commit in" in run.stderr
