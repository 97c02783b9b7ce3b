"""A finding names the cause that an experiment has shown, and not one that looks like it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness import OpGate, read_results

MODULE = """
import opgate
import torch


def operator(name, compute, backward=None, reference=None):
    made = torch.library.custom_op(f"shown::{name}", compute, mutates_args=())
    made.register_fake(lambda x: x.new_empty(x.shape))
    if backward is not None:
        made.register_autograd(lambda ctx, grad: backward(grad))

    @opgate.spec(f"shown::{name}")
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").sample(opgate.uniform(4, 6))
        if reference is not None:
            spec.reference(reference).accuracy(opgate.ulps(1))
        else:
            spec.draft()
        if backward is not None:
            spec.promises("differentiable")


def tripled(x: torch.Tensor) -> torch.Tensor:
    return (3 * x).contiguous()


def in_place(grad):
    for row in range(grad.shape[0]):
        grad[row].mul_(3)
    return grad


PLANS = {}


def planned(x: torch.Tensor) -> torch.Tensor:
    strides = PLANS.setdefault(x.shape, x.stride())
    return 3 * x.as_strided(x.shape, strides).contiguous()


def dense(x: torch.Tensor) -> torch.Tensor:
    return 3 * x.as_strided(x.shape, torch.empty(x.shape).stride())


operator("writes_its_gradient", tripled, in_place)
operator("mean_of_rows", tripled, lambda grad: 3 * grad.mean(0, keepdim=True).expand(grad.shape))
operator("forgets_a_factor", tripled, lambda grad: 2 * grad)
operator("right", tripled, lambda grad: 3 * grad)
operator("planned", planned, reference=lambda x: 3 * x)
operator("dense", dense)
"""


def test_each_cause(opgate: OpGate, new_project: Callable[..., Path]) -> None:
    folder = new_project(libraries=[], specs=[], python=["shown_operators"], python_path=["."])
    (folder / "shown_operators.py").write_text(MODULE)
    checks = ["grad.layout", "grad.repeated", "grad.numeric", "value.layout"]
    ran = opgate("run", "--jobs", "1", "--check", *checks, folder=folder)
    causes: dict[str, set[str]] = {}
    for defect in read_results(folder / ".opgate").defects:
        causes.setdefault(defect["op"], set()).add(defect["cause"])
    assert "right" not in causes, ran
    assert causes["writes_its_gradient"] == {"the backward writes the incoming gradient of output 0"}, ran
    kept = "what it keeps from an earlier call of the same sizes is used for other strides of `x`"
    assert causes["planned"] == {kept}, ran
    assert any("its strides are ignored" in cause for cause in causes["dense"]), ran
    likely = {
        case.partition("/")[0]: line["likely"]
        for case, line in read_results(folder / ".opgate").cases.items()
        if case.endswith("/grad.numeric") and line["verdict"] == "fail"
    }
    assert likely.keys() == {"mean_of_rows", "forgets_a_factor"}, ran
    assert "right where all rows of the incoming gradient are alike" in likely["mean_of_rows"]
    assert "a factor or a term is missing" in likely["forgets_a_factor"]
