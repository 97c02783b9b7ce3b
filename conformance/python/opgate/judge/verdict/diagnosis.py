"""What kind of mistake explains the wrong values of one call."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from opgate.judge.tensors.comparison import elements_beyond, first_difference, is_constant
from opgate.judge.truth.truth import RightAnswer
from opgate.specs.dtypes import dtype_name

HALF_ERROR = 2.0**-5
"""Computations in 16 bits mostly stay below this, relative to the size of the results."""


def wrong_values(
    got: Sequence[torch.Tensor],
    answer: RightAnswer,
    given: Sequence[torch.Tensor],
    earlier: Sequence[tuple[str, Sequence[torch.Tensor]]],
    poison: int,
) -> tuple[str, str] | None:
    """The name of the mistake and what was seen, or None if all values are right.

    `earlier` are the results of calls with other arguments, whose right results differ from these.
    """
    for result, exact, bound in zip(got, answer.exact, answer.bounds, strict=True):
        beyond = elements_beyond(result, exact, bound)
        if bool(beyond.any()):
            name, more = explain(result, exact, bound, beyond, given, earlier, poison)
            seen = first_difference(result, exact, beyond)
            return name, f"{seen}; {more}" if more else seen
    return None


def explain(
    got: torch.Tensor,
    exact: torch.Tensor,
    bound: torch.Tensor,
    beyond: torch.Tensor,
    given: Sequence[torch.Tensor],
    earlier: Sequence[tuple[str, Sequence[torch.Tensor]]],
    poison: int,
) -> tuple[str, str]:
    """The likeliest explanation of the elements that are beyond the bound."""
    for label, results in earlier:
        if any(equal_bits(got, other) for other in results) and not is_constant(got):
            return "replayed result", f"it is to the last bit the result of the call with {label}"
    if 2 * int((is_poison(got, poison) & beyond).sum()) > int(beyond.sum()):
        return "never written", "these are the bytes of memory that was allocated and not written"
    if got.is_floating_point() and bool(got[beyond].isnan().all()) and not bool(exact[beyond].isnan().any()):
        return "NaN", ""
    if not bool(got.any()):
        return "zeros", ""
    for number, argument in enumerate(given):
        if equal_bits(got, argument):
            return "returns an argument", f"it is argument {number}"
    if got.is_floating_point() and got.dtype.itemsize >= 4 and bool(exact.isfinite().all()):
        error = (got.double() - exact).abs()
        relative = float(error.max() / exact.double().square().mean().sqrt().clamp_min(1e-300))
        times = float((error / bound)[beyond].max())
        if relative < HALF_ERROR and bool((error <= bound * 8192).all()):
            allowed = f"what rounding in {dtype_name(got.dtype)} allows"
            return "precision", f"the largest error is {times:.0f} times {allowed}"
    return "wrong values", ""


def equal_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both have the same sizes, dtype and bits; NaN counts as its bits."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(as_bytes(one), as_bytes(other))


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of the elements, in the last dim."""
    return tensor.contiguous().unsqueeze(-1).view(torch.uint8)


def is_poison(tensor: torch.Tensor, poison: int) -> torch.Tensor:
    """The elements whose bytes are all those of memory that was allocated or freed, and never written."""
    content = as_bytes(tensor)
    return (content == poison).all(-1) | (content == poison ^ 0xFF).all(-1)
