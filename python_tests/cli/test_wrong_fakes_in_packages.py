"""Calls whose fake kernel is known to be wrong stay out of the package that operators share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import OpGate, Results, read_results

pytestmark = pytest.mark.long

# wrong_order, wrong_dtype and fixed_rows have wrong fakes. What `chosen` returns has sizes of its values.
OPERATORS = """
import opgate
import torch

pieces = torch.library.Library("shared", "DEF")


def add(name, kernel, fake):
    pieces.define(f"{name}(Tensor x) -> Tensor")
    pieces.impl(name, kernel, "CPU")
    torch.library.register_fake(f"shared::{name}", fake, lib=pieces)

    @opgate.spec(f"shared::{name}")
    def promise(spec):
        spec.dtypes(torch.float32, torch.float64, device="cpu").draft()
        spec.sample(opgate.uniform(4, 6))
        spec.sample(opgate.uniform(1, 6))


def sizes_of_values(x):
    return x.new_empty(torch.library.get_ctx().new_dynamic_size())


def turned(x):
    return x.sin().t().contiguous().t()


add("doubled", lambda x: (x * 2).contiguous(), lambda x: x.new_empty(x.shape))
add("halved", lambda x: (x / 2).contiguous(), lambda x: x.new_empty(x.shape))
add("turned", turned, lambda x: x.new_empty(x.shape[::-1]).t())
add("chosen", lambda x: x[x > 0], sizes_of_values)
def of_fixed_rows(x):  # refuses sizes that are not known, and so only the package with sizes of any value
    if not all(isinstance(size, int) for size in x.shape):
        raise RuntimeError("the rows must be known")
    return x.new_empty(x.shape)


add("fixed_rows", lambda x: (x + 1).contiguous(), of_fixed_rows)
add("wrong_order", turned, lambda x: x.new_empty(x.shape))
add("wrong_dtype", lambda x: (x > 0).to(torch.int32).contiguous(), lambda x: x.new_empty(x.shape))
"""
WRONG = ["fixed_rows", "wrong_dtype", "wrong_order"]
RIGHT = ["chosen", "doubled", "halved", "turned"]


@pytest.fixture(scope="module")
def folder(new_project: Callable[..., Path], opgate: OpGate) -> Path:
    folder = new_project(python=["shared_operators"], python_path=["."])
    (folder / "shared_operators.py").write_text(OPERATORS)
    ran = opgate("run", "--check", "aoti.python", "fake.metadata", folder=folder)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return folder / ".opgate"


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return read_results(folder)


def test_one_package_is_compiled(folder: Path) -> None:
    assert len(list((folder / "packages").glob("*.pt2"))) == 1


def test_those_with_a_wrong_fake_are_left_out_with_the_reason(folder: Path) -> None:
    state: dict[str, Any] = json.loads((folder / "packages" / "cpu.json").read_text())
    packaged = {call.partition("/")[0] for package in state["packages"] for call in package["calls"]}
    assert packaged >= set(RIGHT)
    told = {(call.partition("/")[0], reason) for call, reason in state["left_out"].items()}
    cannot = "the call cannot be packaged: the fake kernel returns output 0 with "
    other = {entry for entry in told if entry[0] != "fixed_rows"}
    assert other == {
        ("wrong_order", cannot + "strides [6, 1], not [1, 4]"),
        ("wrong_dtype", cannot + "dtype torch.float32, not torch.int32"),
        ("wrong_dtype", cannot + "dtype torch.float64, not torch.int32"),
    }


def test_one_that_cannot_be_exported_with_open_sizes_says_so(folder: Path) -> None:
    state: dict[str, Any] = json.loads((folder / "packages" / "cpu.json").read_text())
    reasons = {reason for call, reason in state["left_out"].items() if call.startswith("fixed_rows/")}
    assert reasons
    assert all("the rows must be known" in reason for reason in reasons), reasons


@pytest.mark.parametrize("op", WRONG)
def test_each_is_one_defect(results: Results, op: str) -> None:
    assert len([line for line in results.defects if line["op"] == op]) == 1


@pytest.mark.parametrize("op", RIGHT)
def test_the_others_pass(results: Results, op: str) -> None:
    verdicts = {line["verdict"] for case, line in results.of(op).items() if case.endswith("/aoti.python")}
    assert verdicts == {"pass"}, results.of(op)
