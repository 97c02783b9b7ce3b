"""opgate.check of functions that are no operators: right ones are silent, and wrong ones are found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import opgate
import pytest
import torch

X = torch.rand(4, 8)


def scaled_sum(x, y, alpha=1.0):  # noqa: ANN001, ANN201 - as in most Python code
    """Without annotations."""
    return x + alpha * y


def halve_(x, times: int = 1) -> None:  # noqa: ANN001
    """Writes to its argument, and would count to any number."""
    for _ in range(times):
        x.mul_(0.5)


def limits(x, dims):  # noqa: ANN001, ANN201
    """Returns two tensors, and takes a tuple."""
    assert isinstance(dims, tuple)
    return x.amin(dims), x.amax(dims)


def summed(parts):  # noqa: ANN001, ANN201
    """Takes a list of tensors."""
    return torch.stack(list(parts)).sum(0)


class Square(torch.autograd.Function):
    """Right."""

    @staticmethod
    def forward(ctx, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


class HalfOfIt(Square):
    """The gradient lacks a factor."""

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return x * gradient


class Norm(torch.nn.Module):
    """A module with a weight of its own, and an argument by keyword."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor, *, eps: float = 1e-6) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * self.weight


def reads_densely(x):  # noqa: ANN001, ANN201
    """Ignores strides."""
    return torch.as_strided(x, x.shape, torch.empty(x.shape).stride(), 0).mul(2)


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        pytest.param(scaled_sum, (X, X), {"alpha": 2.0}, id="a default by keyword"),
        pytest.param(scaled_sum, [(X, X), (X, X, 3)], None, id="samples of which one leaves out a default"),
        pytest.param(
            scaled_sum, [(opgate.uniform(3, 5), opgate.uniform(3, 5))], None, id="generated tensors"
        ),
        pytest.param(halve_, (X, 2), None, id="in place"),
        pytest.param(limits, (X, (0, 1)), None, id="a tuple"),
        pytest.param(summed, ([X, X],), None, id="a list of tensors"),
        pytest.param(Square, (X.clone().requires_grad_(),), None, id="an autograd Function"),
        pytest.param(Square.apply, (X.clone().requires_grad_(),), None, id="its apply"),
        pytest.param(Norm(), (X.clone().requires_grad_(),), {"eps": 1e-5}, id="a module"),
        pytest.param(functools.partial(scaled_sum, alpha=3.0), (X, X), None, id="a partial"),
        pytest.param(lambda x: x.sin(), (X,), None, id="a lambda"),
        pytest.param("torch.nn.functional:silu", (X,), None, id="a name"),
        pytest.param(torch.add, (X, X), None, id="a built-in function"),
    ],
)
def test_right_functions_are_silent(function: Any, args: Any, kwargs: dict[str, Any] | None) -> None:
    """For each kind, with all checks that opgate.check has by default."""
    opgate.check(function, args, kwargs)


@pytest.mark.parametrize(
    ("function", "args", "checks"),
    [
        (reads_densely, (X,), ["value.layout"]),
        (HalfOfIt, (X.clone().requires_grad_(),), ["grad.numeric"]),
    ],
)
def test_wrong_functions_are_found(
    function: Callable[..., Any], args: tuple[Any, ...], checks: list[str]
) -> None:
    """Each by its check."""
    with pytest.raises(AssertionError, match=checks[0].replace(".", r"\.")):
        opgate.check(function, args, checks=checks)


def test_a_reference_is_compared_with() -> None:
    """As for an operator."""
    opgate.check(scaled_sum, (X, X), reference=torch.add, checks=["value.reference"])
    with pytest.raises(AssertionError, match=r"value\.reference"):
        opgate.check(scaled_sum, (X, X), reference=torch.sub, checks=["value.reference"])


def test_the_same_function_again_with_other_types() -> None:
    """Its schema is that of the last call of opgate.check."""
    opgate.check(scaled_sum, (X, X), checks=["value.layout"])
    opgate.check(scaled_sum, (X, 2.0), checks=["value.layout"])


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (scaled_sum, (X,), "missing a required argument: 'y'"),
        (scaled_sum, (1, 2), "gets no tensor"),
        (scaled_sum, (X, {}), "a dict as an argument"),
        (scaled_sum, [(X, X), (X, 2.0)], "a float as `y`, which is a Tensor in another call"),
        (lambda x: {"x": x}, (X,), "that return a dict, and results must be tensors or numbers"),
        (3, (X,), "neither an operator nor a function"),
    ],
)
def test_what_cannot_be_checked_is_refused(function: Any, args: Any, message: str) -> None:
    """With a TypeError that says why."""
    with pytest.raises(TypeError, match=message):
        opgate.check(function, args)


def test_what_the_function_raises_is_raised() -> None:
    """A sample must be a call that succeeds."""

    def refuses(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        opgate.check(refuses, (X,))
