"""A draft with offsets is asked with a segment that nothing belongs to, where that is surely valid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness import OpGate, read_results

OPERATORS = """
import opgate
import torch

library = torch.library.Library("groups", "FRAGMENT")


def op(signature, kernel, fake, *arguments):
    name = signature.split("(")[0]
    library.define(f"{signature} -> Tensor")
    library.impl(name, kernel, "CPU")
    library.impl(name, fake, "Meta")

    @opgate.spec(f"groups::{name}")
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").draft()
        spec.trusts("at").sample(*arguments)


def longs(*numbers):
    return opgate.values([*numbers]).of(torch.int64)


def means(x, at, start):
    out = start(at.numel() - 1)
    for i in range(at.numel() - 1):
        if at[i] < at[i + 1]:
            out[i] = x[at[i] : at[i + 1]].mean()
    return out


one_a_segment = lambda x, at: x.new_empty(at.shape[0] - 1)
op("unwritten(Tensor x, Tensor at)", lambda x, at: means(x, at, x.new_empty), one_a_segment,
   opgate.uniform(9), longs(0, 3, 7, 9))
op("written(Tensor x, Tensor at)", lambda x, at: means(x, at, x.new_zeros), one_a_segment,
   opgate.uniform(9), longs(0, 3, 7, 9))


# Callers promise a longest segment: rows of a longer one are not written.
def padded(x, at, longest):
    out = x.new_empty(at.numel() - 1, longest)
    for i in range(at.numel() - 1):
        row = x[at[i] : at[i + 1]][:longest]
        out[i, : row.numel()] = row
        out[i, row.numel() :] = 0
    return out


def scattered(x, at, longest):
    out = torch.empty_like(x)
    for i in range(at.numel() - 1):
        out[at[i] : min(at[i + 1], at[i] + longest)] = i
    return out


op("padded(Tensor x, Tensor at, int longest)", padded, lambda x, at, n: x.new_empty(at.shape[0] - 1, n),
   opgate.uniform(9), longs(0, 3, 7, 9), 4)
op("scattered(Tensor x, Tensor at, int longest)", scattered, lambda x, at, n: torch.empty_like(x),
   opgate.uniform(9), longs(0, 3, 7, 9), 4)


# A permutation, which happens to be sorted, and lengths: no number of them may be another one.
def inverse(x, at):
    out = torch.empty_like(x)
    out[at] = x
    return out


def cut(x, at):
    out, begin = torch.empty_like(x), 0
    for length in at.tolist():
        out[begin : begin + length] = x[begin : begin + length].sum()
        begin += length
    return out


op("inverse(Tensor x, Tensor at)", inverse, lambda x, at: torch.empty_like(x),
   opgate.uniform(4), longs(0, 1, 2, 3))
op("cut(Tensor x, Tensor at, Tensor y)", lambda x, at, y: cut(x, at), lambda x, at, y: torch.empty_like(x),
   opgate.uniform(9), longs(0, 2, 3, 4), opgate.uniform(4))
"""


def test_the_row_of_an_empty_segment_is_written(opgate: OpGate, new_project: Callable[..., Path]) -> None:
    folder = new_project(python=["groups"], python_path=["."])
    (folder / "groups.py").write_text(OPERATORS)
    ran = opgate("run", "--check", "error", "memory", "fake", "value", folder=folder)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    cases = {case: line for case, line in read_results(folder / ".opgate").cases.items() if ".group=" in case}
    assert {case.split("/")[0] for case in cases} == {"unwritten", "written"}, "not where it may be invalid"
    broken = {case for case, line in cases.items() if line["verdict"] not in ("pass", "owed")}
    assert {tuple(case.split("/")[index] for index in (0, 3)) for case in broken} == {
        ("unwritten", f"bad:at.group=none-in-{place}") for place in ("first", "middle", "last")
    }
    assert "where nothing belongs to the first group of `at`" in ran.stdout
