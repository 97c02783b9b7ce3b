"""Specs written in Python, for operators that are defined only in Python: every check applies to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

MODULE = """
import opgate
import torch


def demand(x):
    if x.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"x must be float32 or float64, got {x.dtype}")


def operator(name, compute):
    @torch.library.custom_op(f"python_specs::{name}", mutates_args=())
    def made(x: torch.Tensor) -> torch.Tensor:
        demand(x)
        return compute(x)

    @made.register_fake
    def _(x):
        demand(x)
        return torch.empty_like(x, memory_format=torch.contiguous_format)

    return made


square = operator("square", lambda x: (x * x).contiguous())
square.register_autograd(
    lambda ctx, grad: 2 * ctx.saved_tensors[0] * grad,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)
half_gradient = operator("half_gradient", lambda x: (x * x).contiguous())
half_gradient.register_autograd(
    lambda ctx, grad: ctx.saved_tensors[0] * grad,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)
plain = operator("plain", lambda x: x.contiguous().clone())


def promise(spec):
    spec.dtypes(torch.float32, torch.float64, device="cpu")
    spec.reference(lambda x: x * x)
    spec.accuracy(opgate.ulps(0.5))
    spec.promises("deterministic", "differentiable", "twice_differentiable")
    spec.sample(opgate.uniform(4, 6))


def promise_with_another_sample(spec):
    promise(spec)
    spec.sample(opgate.uniform(7), named="seven")


opgate.spec("python_specs::square")(promise)
opgate.spec("python_specs::half_gradient")(promise_with_another_sample)
"""

WRITES = """
import opgate
import torch


@torch.library.custom_op("python_specs::writes", mutates_args=())
def writes(x: torch.Tensor) -> torch.Tensor:
    result = x.clone()
    x.zero_()
    return result


@writes.register_fake
def _(x):
    return torch.empty_like(x)


@opgate.spec("python_specs::writes")
def spec_of_writes(spec: opgate.OpSpec) -> None:
    spec.dtypes(*opgate.floating(), device="cpu").reference("aten::clone").accuracy(opgate.exact())
    spec.sample(opgate.uniform(4, 6))
    spec.rejects("never", opgate.uniform(3), because="no such word")
"""

Project = Callable[[str], Path]


@pytest.fixture
def project(new_project: Callable[..., Path]) -> Project:
    """A project with one module, which has this text."""

    def write(text: str) -> Path:
        folder = new_project(libraries=[], specs=[], python=["my_specs"], python_path=["."])
        (folder / "my_specs.py").write_text(text)
        return folder

    return write


def run(opgate: OpGate, folder: Path, *words: str) -> Completed:
    """`opgate run` of the CPU's cases, packages left out."""
    return opgate("run", *words, folder=folder)


@pytest.mark.long
def test_every_native_check_passes_a_correct_python_operator(opgate: OpGate, project: Project) -> None:
    folder = project(MODULE)
    # With one job, one worker imports torch and the compiler for all checks.
    result = run(opgate, folder, "--op", "square", "--jobs", "1")
    assert result.returncode == 0, result
    checks = {case.rpartition("/")[2] for case in read_results(folder / ".opgate").cases}
    assert checks >= {
        "value.reference",
        "value.layout",
        "value.dtype",
        "effect.mutation",
        "effect.alias",
        "memory.bounds",
        "fake.metadata",
        "fake.symbolic",
        "grad.reference",
        "grad.numeric",
        "grad.layout",
        "grad.second",
        "run.threads",
        "compile.equal",
        "aoti.python",
    }
    in_cpp = {"aoti.cpp", "aoti.cross", "aoti.refuses", "aoti.threads"}
    assert checks.isdisjoint(in_cpp), "no C++ program can call it"


def test_a_wrong_gradient_in_python_fails(opgate: OpGate, project: Project) -> None:
    folder = project(MODULE)
    result = run(opgate, folder, "--op", "half_gradient", "--check", "grad", "value")
    assert result.returncode == 1, result
    results = read_results(folder / ".opgate")
    assert {case.split("/")[2] for case in results.cases} == {"4x6", "seven"}
    failing = results.failing_checks("half_gradient")
    assert {"grad.reference", "grad.numeric", "grad.second"} <= failing
    assert not {check for check in failing if check.startswith("value")}


def test_an_undeclared_write_fails_and_a_broken_rejection_is_told(opgate: OpGate, project: Project) -> None:
    folder = project(WRITES)
    result = run(opgate, folder, "--check", "effect", "error")
    assert result.returncode == 1, result
    results = read_results(folder / ".opgate")
    assert {"effect.mutation", "error.raises"} <= results.failing_checks("writes")
    never = [
        line for case, line in results.cases.items() if "/never/" in case and case.endswith("error.raises")
    ]
    assert never
    assert {line["verdict"] for line in never} == {"fail"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            'opgate.spec("python_specs::none")(promise)',
            ["my_specs.py", "no operator is named python_specs::none"],
        ),
        ('opgate.spec("python_specs::square")(promise)', ["my_specs.py", "has a spec already"]),
        (
            'opgate.spec("python_specs::plain")(lambda spec: spec.dtypes(torch.float32))',
            ["names no reference"],
        ),
        (
            'opgate.spec("python_specs::plain")(lambda spec: (promise(spec), spec.promises("swift")))',
            ["'swift' is no promise", "deterministic"],
        ),
        (
            'opgate.spec("python_specs::plain")(lambda spec: spec.sample(object()))',
            ["my_specs.py", "a sample takes opgate.uniform", "not a object"],
        ),
        (
            'opgate.spec("python_specs::plain")(lambda spec: (promise(spec), spec.sample(1.5)))',
            ["my_specs.py", "the schema wants Tensor"],
        ),
    ],
)
def test_a_broken_spec_is_told_with_its_place(
    opgate: OpGate, project: Project, line: str, said: list[str]
) -> None:
    assert_refused(run(opgate, project(f"{MODULE}\n{line}\n")), *said)


GENERATORS = """
import opgate
import torch


@opgate.spec("aten::bernoulli.p")
def bernoulli(spec: opgate.OpSpec) -> None:
    spec.draft().dtypes(torch.float32, device="cpu").promises("deterministic")
    spec.sample(opgate.uniform(4, 6), 0.5, opgate.generator(3))


@opgate.spec("aten::sum")
def total(spec: opgate.OpSpec) -> None:
    spec.dtypes(torch.float32, device="cpu").reference(lambda x, dtype: x.sum())
    spec.accuracy(opgate.ulps(64).scaled_by_inputs())
    spec.sample(opgate.uniform(4, 6), torch.float64)


@opgate.spec("aten::clone")
def clone(spec: opgate.OpSpec) -> None:
    spec.dtypes(*opgate.every_dtype(), device="cpu").reference("aten::clone").accuracy(opgate.exact())
    spec.sample(opgate.uniform(4, 6))
"""


def test_a_spec_names_generators_and_every_dtype(opgate: OpGate, project: Project) -> None:
    folder = project(GENERATORS)
    words = ["--check", "value.reference", "run.deterministic", "effect.state", "fake.exists"]
    result = run(opgate, folder, *words)
    assert result.returncode == 0, result
    cases = read_results(folder / ".opgate").cases
    dtypes = {case.split("/")[1] for case in cases if case.endswith("/value.reference")}
    assert {"float32", "bool", "complex64", "float8_e5m2", "bits16", "uint32"} <= dtypes
    assert any(case.startswith("bernoulli.p/") and case.endswith("run.deterministic") for case in cases)
    assert {line["verdict"] for line in cases.values()} <= {"pass", "owed"}


def test_a_negative_seed_is_refused(opgate: OpGate, project: Project) -> None:
    folder = project(GENERATORS.replace("generator(3)", "generator(-1)"))
    assert_refused(run(opgate, folder), "the seed must not be negative")


KINDS = """
import opgate
import torch

library = torch.library.Library("kinds", "DEF")
schema = "Tensor x, Tensor?[] factors, Scalar scale, bool[] turned, str[] steps, Tensor? bias=None"
library.define(f"mixed({schema}) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


def demand(x, factors, turned, steps, bias):
    if x.dtype != torch.complex64:
        raise ValueError(f"x must be complex64, got {x.dtype}")
    if x.dim() != 2 or len(factors) != 2 or len(turned) != 2 or not set(steps) <= {"neg", "real"}:
        raise ValueError(f"factors, turned and steps do not fit x of {list(x.shape)}")
    for factor, size in zip([*factors, bias], [*x.shape, x.shape[1]]):
        if factor is not None and (factor.dtype != x.dtype or list(factor.shape) != [size]):
            raise IndexError(f"factors and bias must have the sizes of x, {list(x.shape)}")


def mixed(x, factors, scale, turned, steps, bias=None):
    out = x * scale
    for dim, factor in enumerate(factors):
        out = out if factor is None else out * (factor[:, None] if dim == 0 else factor)
    for step in steps:
        out = -out if step == "neg" else out.real.to(out.dtype)
    out = out.flip([dim for dim in range(2) if turned[dim]])
    return (out if bias is None else out + bias).contiguous()


@torch.library.impl(library, "mixed", "CPU")
def on_cpu(x, factors, scale, turned, steps, bias=None):
    demand(x, factors, turned, steps, bias)
    return mixed(x, factors, scale, turned, steps, bias)


@torch.library.register_fake("kinds::mixed")
def fake(x, factors, scale, turned, steps, bias=None):
    demand(x, factors, turned, steps, bias)
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def reference(x, factors, scale, turned, steps, bias=None):
    if x.dim() != 2 or len(factors) != 2 or len(turned) != 2 or not set(steps) <= {"neg", "real"}:
        raise ValueError("x must be a matrix, and factors, turned and steps must fit it")
    return mixed(x, factors, scale, turned, steps, bias)


@opgate.spec("kinds::mixed")
def spec(spec):
    spec.dtypes(torch.complex64, device="cpu").reference(reference)
    spec.accuracy(opgate.ulps(16).scaled_by_inputs())
    x, row = opgate.uniform(4, 3), opgate.uniform(3)
    spec.sample(x, [None, row], 0.5 - 1.25j, [True, False], ["neg"], row)
    spec.sample(x, [opgate.uniform(4), row], 2, [False, True], ["real", "neg"])
    spec.rejects("a vector", row, [None, None], 1j, [True, True], [], because="fit", raises=LookupError)
    spec.rejects("another size", x, [row, None], 1j, [True, True], [], raises=LookupError)
"""


def test_arguments_of_every_kind_reach_the_operator(opgate: OpGate, project: Project) -> None:
    folder = project(KINDS)
    words = ["--check", "value", "effect", "error", "fake", "export", "compile.equal", "aoti.python"]
    result = run(opgate, folder, *words)
    assert result.returncode == 1, result
    results = read_results(folder / ".opgate")
    broken = {case: line for case, line in results.cases.items() if line["verdict"] == "fail"}
    (case, line) = broken.popitem()
    assert not broken
    assert case == "mixed/complex64/a vector/contiguous/cpu/error.raises"
    assert line["promised"].startswith('`a vector` raises LookupError, and says "fit" (')
    assert line["happened"].startswith("raised ValueError: factors, turned and steps do not fit")
    tried = {case.split("/")[3] for case in results.cases}
    assert {"bad:bias=None", "bad:turned[0]=false", "bad:steps[0]=unknown", "bad:factors.empty"} <= tried
    owed = [line["reason"] for line in results.cases.values() if line["verdict"] == "owed"]
    assert set(owed) == {"AOTInductor takes no complex numbers as arguments"}


MASKED = """
import opgate
import torch

library = torch.library.Library("masked", "DEF")
schema = "Tensor g, Tensor x, Tensor w, bool[3] mask"
library.define(f"backward({schema}) -> (Tensor, Tensor, Tensor)", tags=(torch.Tag.pt2_compliant_tag,))


def backward(g, x, w, mask):
    given = [w.shape[0]], [1], [0], [1], False, [0], 1
    return torch.ops.aten.convolution_backward(g, x, w, *given, mask)


library.impl("backward", backward, "CPU")
library.impl("backward", backward, "Meta")


@opgate.spec("masked::backward")
def spec(spec):
    spec.dtypes(torch.float32, device="cpu").reference(backward)
    spec.accuracy(opgate.ulps(64).scaled_by_inputs())
    x, w = opgate.uniform(2, 5, 6), opgate.uniform(3, 5, 3)
    spec.sample(opgate.uniform(2, 3, 4), x, w, [True, True, True])
"""


def test_a_result_that_a_flag_does_not_ask_for_may_be_there(opgate: OpGate, project: Project) -> None:
    # In float32 torch returns what the mask leaves out, and in double, as the reference is run, it does not.
    folder = project(MASKED)
    result = run(opgate, folder, "--check", "error.raises")
    assert result.returncode == 0, result
    assert any("/bad:mask[1]=false/" in case for case in read_results(folder / ".opgate").cases)
