"""Specs of functions that no dispatcher knows, and the gate of a change to such functions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from harness import OpGate, read_results

pytestmark = pytest.mark.long

FUNCTIONS = """
import torch


def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return x * by


def add_to_(x: torch.Tensor, y: torch.Tensor) -> None:
    x.add_(y)


def without_types(x):
    return x.relu()


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x * x * gradient


class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return by * x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.by, None
"""
SPECS = """
import opgate
import plainlib
import torch


@opgate.spec(plainlib.scaled)
def _(spec):
    spec.dtypes(torch.float32, torch.float64, device="cpu").draft()
    spec.reference(lambda x, by: x * by).accuracy(opgate.exact())
    spec.sample(opgate.uniform(3, 4), 1)
    spec.sample(opgate.uniform(5))


@opgate.spec("plainlib:add_to_")
def _(spec):
    spec.schema("(Tensor(a!) x, Tensor y) -> ()")
    spec.dtypes(torch.float32, device="cpu").draft()
    spec.sample(opgate.uniform(3, 4), opgate.uniform(3, 4))


@opgate.spec(plainlib.Cube)
def _(spec):
    spec.schema("(Tensor x) -> Tensor")
    spec.dtypes(torch.float32, device="cpu").draft()
    spec.reference(lambda x: x**3).accuracy(opgate.ulps(4))
    spec.promises("differentiable")
    spec.sample(opgate.uniform(3, 4))


@opgate.spec(plainlib.Times)
def _(spec):
    spec.schema("(Tensor x, float by=2.0) -> Tensor")  # `apply` itself has no default
    spec.dtypes(torch.float32, device="cpu").draft()
    spec.reference(lambda x, by: x * by).accuracy(opgate.exact())
    spec.promises("differentiable")
    spec.sample(opgate.uniform(3, 4))
    spec.sample(opgate.uniform(3, 4), 3.0)
"""
CHECKS = ["value.layout", "value.reference", "effect.mutation", "grad.reference", "memory.bounds"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with functions and their specs."""
    place = tmp_path / "a user's folder"
    place.mkdir()
    (place / "plainlib.py").write_text(FUNCTIONS)
    (place / "specs.py").write_text(SPECS)
    (place / "opgate.toml").write_text('python = ["specs"]\npython_path = ["."]\nledger = "ledger"\n')
    return place


def broken(folder: Path) -> set[str]:
    """The functions of which a case failed in the last run or gate."""
    cases = read_results(folder / ".opgate").cases.values()
    return {row["case"].partition("/")[0] for row in cases if row["verdict"] not in ("pass", "owed")}


def test_specs_of_functions_are_run(opgate: OpGate, folder: Path) -> None:
    """By their object or their name, with the schema of annotations or of the spec."""
    ran = opgate("run", "--check", *CHECKS, folder=folder)
    assert ran.returncode == 0, ran
    results = read_results(folder / ".opgate")
    for name in ("scaled", "add_to_", "Cube", "Times"):
        assert results.of(f"plainlib:{name}"), ran.stdout
    assert any(case.endswith("grad.reference") for case in results.of("plainlib:Cube"))


def test_a_harmful_change_to_a_function_is_refused(opgate: OpGate, folder: Path) -> None:
    """In each of three ways; a change of a comment is accepted."""
    for command in ("run", "accept"):
        done = opgate(command, folder=folder)
        assert done.returncode == 0, done
    source = folder / "plainlib.py"
    source.write_text(FUNCTIONS + "# The end.\n")
    accepted = opgate("gate", "--check", *CHECKS, folder=folder)
    assert accepted.returncode == 0, accepted
    harmful = {
        "scaled": ("return x * by", "return x * by + 1e-3"),
        "add_to_": ("x.add_(y)", "x.add_(y)\n    y.zero_()"),
        "Cube": ("3 * x * x * gradient", "2 * x * x * gradient"),
    }
    for name, (right, wrong) in harmful.items():
        source.write_text(FUNCTIONS.replace(right, wrong))
        refused = opgate("gate", "--check", *CHECKS, folder=folder)
        assert refused.returncode == 1, refused
        assert broken(folder) == {f"plainlib:{name}"}, refused.stdout


def test_recorded_functions_are_gated(opgate: OpGate, folder: Path) -> None:
    """Without a spec and without annotations: record, run, accept, and a change that the gate refuses."""
    (folder / "opgate.toml").unlink()
    (folder / "program.py").write_text(
        "import plainlib, torch\n"
        "x = torch.rand(3, 4)\nplainlib.scaled(x, 3.0)\nplainlib.without_types(x - 0.5)\n"
    )
    commands = (
        ["record", "--function", "plainlib:*", "--", sys.executable, "program.py"],
        ["run"],
        ["accept"],
    )
    for command in commands:
        done = opgate(*command, folder=folder)
        assert done.returncode == 0, done
    source = folder / "plainlib.py"
    source.write_text(FUNCTIONS.replace("x.relu()", "torch.as_strided(x, x.shape, (4, 1), 0).relu()"))
    refused = opgate("gate", "--check", *CHECKS, folder=folder)
    assert refused.returncode == 1, refused
    assert broken(folder) == {"plainlib:without_types"}, refused.stdout


def test_a_schema_that_nobody_gives_is_asked_for(opgate: OpGate, folder: Path) -> None:
    """The error names the spec, the parameter and the word."""
    (folder / "specs.py").write_text(
        "import opgate, plainlib, torch\n\n@opgate.spec(plainlib.without_types)\ndef _(spec):\n"
        "    spec.dtypes(torch.float32).draft().sample(opgate.uniform(3))\n"
    )
    ran = opgate("run", folder=folder)
    assert ran.returncode == 2, ran
    assert "no annotation gives the type of `x`; write spec.schema(" in ran.stderr, ran
    assert "specs.py:" in ran.stderr


def test_calls_of_each_kind_are_counted(opgate: OpGate, folder: Path) -> None:
    """Also after the first calls, whose tensors are compared: with other types, and by keyword."""
    (folder / "program.py").write_text(
        "import plainlib, torch\n"
        "for n in range(1, 31):\n"
        "    x = torch.rand(n)\n"
        "    plainlib.scaled(x)\n    plainlib.scaled(x, 3.0)\n    plainlib.scaled(x, by=4)\n"
        "    plainlib.scaled(x, by=5.0)\n"
    )
    done = opgate("record", "--function", "plainlib:*", "--", sys.executable, "program.py", folder=folder)
    assert done.returncode == 0, done
    assert "left out" not in done.stdout, done.stdout
    recorded = json.loads((folder / "recorded" / "plainlib.scaled.json").read_text())
    assert recorded["schema"] == "plainlib:scaled(Tensor x, float by=2) -> Tensor"
    assert (
        sum(sample["calls"] for sample in recorded["samples"]) + sum(recorded.get("left_out", {}).values())
        == 120
    )
    assert {sample["arguments"][1] for sample in recorded["samples"]} == {2.0, 3.0, 4, 5.0}


OBJECTS = """
import functools
import torch


class Scale(torch.nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = torch.nn.Parameter(torch.tensor(by))

    def forward(self, x):
        return x * self.by

    def offset(self, x):
        return x + self.by


class Tools:
    @staticmethod
    def negated(x):
        return -x

    @classmethod
    def made(cls, x):
        return x.abs()


class Counted:
    @torch.no_grad()
    def __call__(self, x):
        return x * 2


class Derived(Counted):
    pass


def add(x, y, alpha=1.0):
    return x + alpha * y


double = Scale(2.0)
twice = functools.partial(add, alpha=2.0)
counted = Counted()
derived = Derived()
packet = torch.ops.aten.relu  # no object of this module, and no operator of a library
"""
OBJECTS_IN_USE = """
import copy, functools
import torch
import objects

x = torch.rand(3, 4)
objects.double(x)
objects.twice(x, x)
assert not objects.counted(x.requires_grad_()).requires_grad and not objects.derived(x).requires_grad
x = x.detach()
objects.Tools.negated(x)
objects.Tools.made(x)
objects.packet(x)
# Each is what it was, and nothing that is like it is recorded.
assert isinstance(objects.double, objects.Scale) and torch.equal(objects.double.offset(x), x + 2)
assert isinstance(objects.twice, functools.partial) and objects.twice.keywords == {"alpha": 2.0}
assert torch.equal(copy.deepcopy(objects.double)(x), x * 2)
objects.Scale(3.0)(x)
objects.Counted()(x)
"""


def test_objects_and_methods_are_recorded_and_stay_what_they_are(opgate: OpGate, folder: Path) -> None:
    """Modules, partials, objects with __call__, static methods and class methods."""
    (folder / "opgate.toml").unlink()
    (folder / "objects.py").write_text(OBJECTS)
    (folder / "program.py").write_text(OBJECTS_IN_USE)
    done = opgate("record", "--function", "objects:*", "--", sys.executable, "program.py", folder=folder)
    assert done.returncode == 0, done
    names = {"Tools.made", "Tools.negated", "add", "counted", "derived", "double", "twice"}
    recorded = {json.loads(file.read_text())["op"]: file for file in (folder / "recorded").iterdir()}
    assert recorded.keys() == {f"objects:{name}" for name in names - {"add"}}
    assert json.loads(recorded["objects:double"].read_text())["calls"] == 1
    ran = opgate("run", "--check", "value.layout", "compile.function", folder=folder)
    assert ran.returncode == 0, ran
    results = read_results(folder / ".opgate")
    for name in names - {"add"}:
        assert any(case.endswith("compile.function") for case in results.of(f"objects:{name}")), name


def test_a_graph_break_is_a_note_with_its_line(opgate: OpGate, folder: Path) -> None:
    """And a function that computes something else while it is traced is a defect."""
    (folder / "opgate.toml").unlink()
    source = (
        "import torch\n\n\ndef signed(x):\n    if x.sum().item() > 0:\n        return x + 1\n"
        "    return x - 1\n\n\ndef other(x):\n    return x + torch.compiler.is_compiling()\n"
    )
    (folder / "broken.py").write_text(source)
    (folder / "program.py").write_text(
        "import broken, torch\nx = torch.rand(3, 4)\nbroken.signed(x)\nbroken.other(x)\n"
    )
    done = opgate("record", "--function", "broken:*", "--", sys.executable, "program.py", folder=folder)
    assert done.returncode == 0, done
    ran = opgate("run", "--check", "compile.function", folder=folder)
    assert ran.returncode == 1, ran
    assert broken(folder) == {"broken:other"}
    assert "broken:signed: the graph breaks at broken.py:5 in signed: " in ran.stdout, ran.stdout
