"""Drafts are asked in another dtype, too: for the fake kernel, and for values in half precision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, Results, read_results

OPERATORS = """
import opgate
import torch

HALVES = (torch.float16, torch.bfloat16)


def op(name, kernel, fake=None, arguments="Tensor x", tags=()):
    library.define(f"{name}({arguments}) -> Tensor", tags=tags)
    library.impl(name, kernel, "CPU")
    library.impl(name, fake or (lambda x, *rest: x.new_empty(x.shape)), "Meta")


def draft(name, *arguments, dtypes=HALVES):
    @opgate.spec(f"dtypes::{name}")
    def promise(spec):
        spec.dtypes(*dtypes, device="cpu").draft()
        spec.sample(*arguments)


library = torch.library.Library("dtypes", "FRAGMENT")

# Fake kernels. Each operator is recorded in one dtype.
half = lambda x: x.new_empty(x.shape, dtype=torch.float16)
double = lambda x: x.new_empty(x.shape, dtype=torch.float64)
op("always_half", lambda x: (x / 3).contiguous(), half)
op("always_double", lambda x: (x / 3).contiguous(), double)
op("halved", lambda x: x.half().contiguous().clone(), half)  # what it is for
op("in_turn", lambda x: (x / 3).contiguous())


def strict(x):
    if x.dtype != torch.float16:
        raise RuntimeError(f"strict: x must be Half, not {x.dtype}")
    return (x / 3).contiguous()


op("strict", strict, half)


# Takes each dtype for Half without asking: it does not compute in another one.
def unasked(x):
    return (x.contiguous().view(torch.float16).flatten()[: x.numel()].reshape(x.shape) / 3).contiguous()


op("unasked", unasked, half)
for name in ("always_half", "halved", "in_turn", "strict", "unasked"):
    draft(name, opgate.uniform(3, 4), dtypes=(torch.float16,))
draft("always_double", opgate.uniform(3, 4), dtypes=(torch.float64,))


# Values. The scratch is of floats; in the wrong one, its second part begins too early for them.
def parts(x, step):
    count = x.numel()
    scratch = torch.zeros(8 * count, dtype=torch.uint8)
    first = scratch[: 4 * count].view(torch.float32)
    second = scratch[step * count : (step + 4) * count].view(torch.float32)
    first.copy_(x.flatten().float() * 2)
    second.copy_(x.flatten().float().cos())
    return (first + second).reshape(x.shape).to(x.dtype)


op("packed_by_result", lambda x: parts(x, x.element_size()))
op("packed_by_float", lambda x: parts(x, 4))


def stalled(x):
    total = torch.zeros(x.shape[0], dtype=x.dtype)
    for column in x.unbind(1):
        total = total + column
    return total


one_a_row = lambda x: x.new_empty(x.shape[0])
op("stalled_sum", stalled, one_a_row)
op("lost_difference", lambda x: ((x + 300) - 300).contiguous())
op("sum_in_float", lambda x: stalled(x.float()).to(x.dtype), one_a_row)

# Right operators whose results in half precision are not near those in float32.
right = {
    "sign_of_difference": lambda x: torch.sign(x - x.flip(-1) * 1.001),
    "spacing": lambda x: torch.nextafter(x, x + 1) - x,
    "smallest": lambda x: torch.full_like(x, torch.finfo(x.dtype).tiny) + torch.finfo(x.dtype).eps,
    "floor_of_product": lambda x: torch.floor(x * x * 37),
    "wave_of_product": lambda x: torch.sin(x * x * 40000),
    "masked": lambda x: torch.softmax(x.masked_fill(x > 0, torch.finfo(x.dtype).min), -1),
    "filled": lambda x: x.masked_fill(x > 0, torch.finfo(x.dtype).min),
    "product_along": lambda x: torch.cumprod(1 + x / 8, -1),
    "sorted_by_product": lambda x: x.flatten()[torch.argsort((x * x).flatten(), stable=True)].view(x.shape),
    "largest_place": lambda x: x.argmax(-1, keepdim=True).expand(x.shape).to(x.dtype),
    "overflows": lambda x: (x * 1e4) * (x * 1e4),
    "own_random": lambda x: x + torch.rand(x.shape, dtype=x.dtype),
}
for name, compute in right.items():
    op(name, lambda x, compute=compute: compute(x).contiguous().clone())
op("jitter", lambda x: (x + torch.rand(x.shape, dtype=x.dtype)).contiguous(),
   tags=(torch.Tag.nondeterministic_seeded,))
for name in (*right, "jitter", "packed_by_result", "packed_by_float", "lost_difference"):
    draft(name, opgate.uniform(6, 40))
for name in ("stalled_sum", "sum_in_float"):
    draft(name, opgate.uniform(2, 6000, low=0.5, high=1.0))
"""

RIGHT = ["halved", "in_turn", "strict", "unasked", "packed_by_float", "sum_in_float", "jitter"]


@pytest.fixture(scope="module")
def results(opgate: OpGate, new_project: Callable[..., Path]) -> tuple[str, Results]:
    folder = new_project(python=["other_dtypes"], python_path=["."])
    (folder / "other_dtypes.py").write_text(OPERATORS)
    ran = opgate("run", "--check", "fake.metadata", "value.dtype", folder=folder)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout, read_results(folder / ".opgate")


def failed(results: Results) -> dict[str, set[str]]:
    """The checks that fail, by operator."""
    found: dict[str, set[str]] = {}
    for case, line in results.cases.items():
        if line["verdict"] != "pass":
            found.setdefault(case.split("/")[0], set()).add(case.rpartition("/")[2])
    return found


def test_the_wrong_ones_are_found_and_no_right_one(results: tuple[str, Results]) -> None:
    assert failed(results[1]) == {
        "always_half": {"fake.metadata"},
        "always_double": {"fake.metadata"},
        "packed_by_result": {"value.dtype"},
        "stalled_sum": {"value.dtype"},
        "lost_difference": {"value.dtype"},
    }
    judged = {case.split("/")[0] for case in results[1].cases}
    assert judged >= {*RIGHT, "spacing", "wave_of_product", "sorted_by_product"}


def test_the_finding_names_both_dtypes(results: tuple[str, Results]) -> None:
    printed = results[0]
    assert (
        "with float32 for float16, under the meta kernel the output has dtype float16, not float32" in printed
    )
    assert (
        "with float32 for float64, under the meta kernel the output has dtype float64, not float32" in printed
    )
    assert "elements are far off" in printed
