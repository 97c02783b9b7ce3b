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
    with pytest.raises(TypeError, match="is no operator that PyTorch's dispatcher knows"):
        opgate.check(torch.add, SAMPLES)
    with pytest.raises(ValueError, match="several overloads"):
        opgate.check(torch.ops.aten.add, SAMPLES)
    with pytest.raises(RuntimeError, match="no operator is named check_function::none"):
        opgate.check("check_function::none", SAMPLES)
    with pytest.raises(RuntimeError, match="the schema wants Tensor"):
        opgate.check(doubled, [(3,)])
    with pytest.raises(TypeError, match="a sample takes opgate.uniform"):
        opgate.check(doubled, [(object(),)])
