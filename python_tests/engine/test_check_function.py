"""opgate.check inside a user's test: findings raise AssertionError, and misuse raises other errors."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import opgate
import pytest
import torch


def made(name: str, compute: Callable[[torch.Tensor], torch.Tensor]) -> torch.library.CustomOpDef:
    """The operator check_function::`name`, its fake kernel as for a row-major result."""

    @torch.library.custom_op(f"check_function::{name}", mutates_args=())
    def operator(x: torch.Tensor) -> torch.Tensor:
        return compute(x)

    @operator.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x, memory_format=torch.contiguous_format)

    return operator


doubled = made("doubled", lambda x: (x * 2).contiguous())
reads_densely = made(
    "reads_densely", lambda x: torch.as_strided(x, x.shape, torch.empty(x.shape).stride(), 0).mul(2)
)
wrong_strides = made("wrong_strides", lambda x: (x.t() * 2).contiguous().t())
SAMPLES = [(torch.rand(4, 6),)]


@torch.library.custom_op("check_function::write_rows_", mutates_args=("cache",))
def write_rows_(cache: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor, *, scale: float = 1.0) -> None:
    cache[slots] = rows * scale


@torch.library.custom_op("check_function::summed", mutates_args=())
def summed(parts: list[torch.Tensor], weights: list[float]) -> torch.Tensor:
    return torch.stack([part * weight for part, weight in zip(parts, weights, strict=True)]).sum(0)


@summed.register_fake
def _(parts: list[torch.Tensor], weights: list[float]) -> torch.Tensor:
    return torch.empty_like(parts[0], memory_format=torch.contiguous_format)


class Swish(torch.autograd.Function):
    """The gradient forgets `beta`."""

    @staticmethod
    def forward(ctx, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x * 3)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x * 3)
        return gradient * (s + x * s * (1 - s))


def findings(*arguments: object, **keywords: object) -> str:
    """The message of the AssertionError."""
    with pytest.raises(AssertionError) as error:
        opgate.check(*arguments, **keywords)
    return str(error.value)


def test_a_correct_operator_passes_with_real_tensors_and_with_described_ones() -> None:
    opgate.check(doubled, SAMPLES)
    few = ["value.layout", "effect.mutation", "memory.bounds", "fake.metadata", "opcheck"]
    opgate.check("check_function::doubled", [(opgate.uniform(4, 6),), (opgate.special(3, 2),)], checks=few)
    opgate.check(
        torch.ops.check_function.doubled,
        [(opgate.uniform(4, 6),)],
        reference=lambda x: x + x,
        accuracy=opgate.exact(),
        checks=few,
    )


def test_operators_that_the_process_has_specs_of_are_not_judged_with_it(build: Path) -> None:
    """In a test that loads a library of specs, the operators of these specs are not reported."""
    torch.ops.load_library(build / "lib" / "libopgate_wrong.so")
    ctypes.CDLL(str(build / "lib" / "libopgate_wrong_specs.so"))
    opgate.check(doubled, SAMPLES, checks=["value.reference"])


def test_a_strided_input_that_is_read_densely_is_found() -> None:
    said = findings(reads_densely, SAMPLES, checks=["value"])
    assert "for check_function::reads_densely" in said
    assert "value.layout" in said
    assert "opgate explain value.layout" in said


def test_a_fake_kernel_with_other_strides_is_found() -> None:
    assert "fake.metadata" in findings(wrong_strides, SAMPLES, checks=["fake"])


def test_a_wrong_result_is_found_by_a_reference() -> None:
    said = findings(doubled, SAMPLES, reference=lambda x: x * 3, accuracy=opgate.ulps(1), checks=["value"])
    assert "value.reference" in said


def test_dtypes_that_are_accepted_beyond_those_told_are_found() -> None:
    said = findings(
        doubled, [(opgate.uniform(4, 6),)], dtypes=[torch.float32]
    )  # with all checks of the default
    assert "value.dtype" in said


def test_chosen_checks_are_run_and_no_others() -> None:
    opgate.check(reads_densely, SAMPLES, checks=["effect.mutation"])
    with pytest.raises(RuntimeError, match=r"value\.layuot"):
        opgate.check(doubled, SAMPLES, checks=["value.layuot"])


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match="no samples"):
        opgate.check(doubled, [])
    with pytest.raises(TypeError, match="3 is neither an operator nor a function"):
        opgate.check(3, SAMPLES)
    with pytest.raises(ValueError, match="several overloads"):
        opgate.check(torch.ops.aten.add, SAMPLES)
    with pytest.raises(RuntimeError, match="no operator is named check_function::none"):
        opgate.check("check_function::none", SAMPLES)
    with pytest.raises(TypeError, match="`x` is a Tensor in the schema, and 3 is given; write opgate.check"):
        opgate.check(doubled, [(3,)])
    with pytest.raises(TypeError, match="`x` is a Tensor in the schema, and <object object"):
        opgate.check(doubled, [(object(),)])


FEW = ["value.layout", "effect.mutation", "memory.bounds"]


def test_the_arguments_of_one_call_are_taken_as_opcheck_takes_them() -> None:
    rows = (torch.zeros(8, 4), torch.rand(3, 4), torch.tensor([2, 0, 5]))
    opgate.check(torch.ops.check_function.write_rows_.default, rows, checks=FEW)
    opgate.check(torch.ops.check_function.write_rows_, rows, {"scale": 2.0}, checks=FEW)
    opgate.check(write_rows_, rows[:1], {"slots": rows[2], "rows": rows[1]}, checks=FEW)
    opgate.check(write_rows_, [rows, (*rows, 0.5)], checks=FEW)
    torch.library.opcheck(doubled, SAMPLES[0])
    opgate.check(doubled, SAMPLES[0], checks=FEW)


def test_lists_as_arguments_are_told_from_samples_by_the_schema() -> None:
    parts = [torch.rand(2, 3), torch.rand(2, 3)]
    opgate.check(summed, (parts, [0.5, 2.0]), checks=FEW)
    opgate.check(summed, [(parts, [0.5, 2.0]), (parts[:1], [1.0])], checks=FEW)


def test_a_call_that_does_not_fit_the_schema_is_told_in_one_line_with_the_right_one() -> None:
    def told(*arguments: object) -> str:
        with pytest.raises(TypeError) as error:
            opgate.check(*arguments)
        message = str(error.value)
        assert "\n" not in message
        assert message.startswith("opgate.check: ")
        return message

    x = torch.rand(4, 6)
    said = told(doubled, (x, 1.5))
    assert "2 arguments are given, and check_function::doubled takes 1" in said
    assert "write opgate.check(op, (x,)) for one call, as for torch.library.opcheck" in said
    assert "opgate.check(op, [(x,), ...]) for several" in said
    assert "a tensor of shape (4, 6) is neither" in told(doubled, x)
    assert "`rows` is a Tensor in the schema, and 1.5 is given" in told(write_rows_, [(x, 1.5, x)])
    assert "the argument `slots` is missing" in told(write_rows_, (x, x))
    assert "has no argument `rate`" in told(write_rows_, (x, x, x), {"rate": 1.0})
    assert "`cache` is given twice" in told(write_rows_, (x, x, x), {"cache": x})


def test_a_tensor_that_requires_a_gradient_asks_for_the_derivative() -> None:
    torch.library.define("check_function::swish", "(Tensor x) -> Tensor")
    torch.library.impl("check_function::swish", "CPU", lambda x: x * torch.sigmoid(x * 3))
    torch.library.impl("check_function::swish", "Autograd", Swish.apply)
    x = torch.randn(5, 3)
    checks = ["grad.numeric", "value.layout"]
    opgate.check("check_function::swish", (x,), checks=checks)
    assert "grad.numeric" in findings("check_function::swish", (x.clone().requires_grad_(),), checks=checks)
