"""`opgate init --register` writes a draft that registers a function as an operator, and the draft runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness import OpGate, read_results

FUNCTIONS = """
import torch


def scaled(x, by=2.0):
    return (x * by).contiguous()


def row_sums(x, dims, *, exact=True):
    assert isinstance(dims, tuple)
    return x.sum(dims), x.double().sum(1)


def add_to_(x, y):
    x.add_(y)
    return x


def add_and_sum_(x, y):
    x.add_(y)
    return x, x.sum(1)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.save_for_backward(x)
        ctx.by = by
        return x * x * x * by

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x * x * ctx.by * gradient, None
"""
PROGRAM = """
import plainlib, torch
for n in (3, 5):
    x = torch.rand(n, 4)
    plainlib.scaled(x)
    plainlib.row_sums(x, (1,))
    plainlib.add_to_(x, x.clone())
    plainlib.add_and_sum_(x, x.clone())
    plainlib.Cube.apply(x.requires_grad_(), 2.0).sum().backward()
"""
WORDS = ("scaled", "row_sums", "add_to_", "add_and_sum_", "Cube")
CHECKS = ["fake.exists", "fake.metadata", "grad.numeric", "grad.layout", "effect.mutation", "opcheck"]


@pytest.mark.long
def test_a_registered_function_is_a_whole_operator(opgate: OpGate, tmp_path: Path) -> None:
    """Kernel, fake kernel and backward, of functions that are recorded without a word of their author."""
    (tmp_path / "plainlib.py").write_text(FUNCTIONS)
    (tmp_path / "program.py").write_text(PROGRAM)
    for command in (
        ["record", "--function", "plainlib:*", "--", sys.executable, "program.py"],
        ["init", "plainlib", "--register"],
    ):
        done = opgate(*command, folder=tmp_path)
        assert done.returncode == 0, done
    drafts = {file.stem: file.read_text() for file in (tmp_path / "opgate_specs").glob("*_operator.py")}
    assert set(drafts) == {f"{name}_operator" for name in WORDS}
    assert "torch.empty_like(x, memory_format=torch.contiguous_format)" in drafts["scaled_operator"]
    assert "x.new_empty((x.size(0), ), dtype=torch.float64)" in drafts["row_sums_operator"]
    assert "mutates_args=('x',)" in drafts["add_to__operator"]
    assert "-> Tensor" in drafts["add_and_sum__operator"]
    assert "return results[1]" in drafts["add_and_sum__operator"]
    ran = opgate("run", "--op", "plainlib::*", "--check", *CHECKS, folder=tmp_path)
    assert ran.returncode == 0, ran
    results = read_results(tmp_path / ".opgate")
    for name in WORDS:
        assert any(case.endswith("fake.metadata") for case in results.of(name)), ran.stdout
    assert any(case.endswith("grad.numeric") for case in results.of("Cube")), ran.stdout


def test_a_module_without_recorded_functions_is_refused(opgate: OpGate, tmp_path: Path) -> None:
    """With what could be meant."""
    (tmp_path / "plainlib.py").write_text(FUNCTIONS)
    done = opgate(
        "init",
        "plainlib",
        "--register",
        "--python",
        "plainlib",
        folder=tmp_path,
        environment={"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 2
    assert "no call of a function of a module plainlib is recorded" in done.stderr, done
