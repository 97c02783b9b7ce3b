"""How far from the exact result a right kernel may be: as far as the reference's own error demands.

The reference in double, called with arguments moved by a rounding, shows how much each element depends on
roundings. A kernel in the declared dtype stays within a small multiple of that; one that computes in float16
has an error some thousand times as large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from opgate.judge.tensors.arguments import tensors_of
from opgate.judge.truth.reference import Reference, Results

TIMES = 64
"""What a right kernel may lose by another order of operations, in units of the reference's error."""
TIMES_OF_HALF = 4
"""The same for results of 16 bits, whose rounding is most of the error."""
FEWEST_TIMES = 256
"""Also a short sum may lose this much, as a Fourier transform whose angles are rounded does."""
LONGEST = 64
"""A long sum that is added up one by one has more error, by the root of its length, up to this factor."""
BIASED = 16
"""Equal terms are all rounded to one side, so that a sum of them has more error by this factor."""


def exact_and_bound(
    reference: Reference, arguments: Sequence[Any], returned: Results, *, biased: bool
) -> tuple[Results, Results, str]:
    """For each result: the exact values, the largest error that is right, and why there is no better one.

    `biased` is for arguments with many equal elements. The bound of an element that a rounding changes
    without measure (an index, a step) is infinite.
    """
    try:
        exact = reference.in_double(arguments)
        shifts = [lambda tensor: torch.rand_like(tensor) * 2 - 1] * 3  # at random for each element
        if any(is_counted(result) for result in returned):
            shifts += [upwards, lambda tensor: -upwards(tensor)]
        moved = [reference.in_double(arguments, by=shift) for shift in shifts]
        why = ""
    except Exception as error:  # a reference that names a dtype cannot be called in another one
        exact, moved, why = widened(returned), [], str(error).splitlines()[0]
    if [one.shape for one in exact] != [one.shape for one in returned]:
        exact, moved, why = widened(returned), [], "it has other results in double"
    longest = length_of_sums(arguments, returned)
    bounds = []
    for i, result in enumerate(returned):
        bounds.append(bound(result, exact[i], [each[i] for each in moved], longest))
        if biased:
            bounds[i] = bounds[i] * BIASED
        exact[i] = result if is_counted(result) else exact[i]
    return exact, bounds, why


def upwards(tensor: torch.Tensor) -> torch.Tensor:
    """Later elements have larger numbers, so that of equal elements the last one becomes the largest."""
    return torch.linspace(0, 1, tensor.numel(), dtype=tensor.dtype).view(tensor.shape)


def is_counted(tensor: torch.Tensor) -> bool:
    """Whether it has integers or bools, such as the index of the largest element."""
    return not tensor.is_floating_point() and not tensor.is_complex()


def widened(results: Results) -> Results:
    """The same numbers in double."""
    return [result.to(torch.complex128) if result.is_complex() else result.double() for result in results]


def length_of_sums(arguments: Sequence[Any], results: Results) -> int:
    """An estimate of how many terms an element of a result may be summed from."""
    given = tensors_of(list(arguments))
    sides = [side for tensor in given for side in tensor.shape]
    ratio = max(t.numel() for t in given) // max(1, min((r.numel() for r in results), default=1))
    return max([1, ratio, *sides])


def bound(result: torch.Tensor, exact: torch.Tensor, moved: Results, longest: int) -> torch.Tensor:
    """The largest error of each element of one result."""
    if is_counted(result):
        unstable = torch.zeros(result.shape, dtype=torch.bool)
        for other in moved:
            unstable |= other != exact
        return torch.where(unstable, torch.inf, 0.0).double()
    epsilon = torch.finfo(result.dtype).eps
    wide = torch.complex128 if result.is_complex() else torch.float64
    exact = exact.to(wide)
    error = (result.to(wide) - exact).abs()
    for other in moved:
        error = torch.maximum(error, (other.to(wide) - exact).abs())
    error = torch.maximum(error, exact.abs() * (epsilon / 2)).nan_to_num(nan=0.0, posinf=0.0)
    if error.dim():  # three moves may by chance leave an element where it is: its neighbours show more
        error = torch.maximum(error, error.square().mean(-1, keepdim=True).sqrt() / 4)
    times = (
        TIMES_OF_HALF if epsilon > 1e-5 else max(FEWEST_TIMES, TIMES * min(LONGEST, math.sqrt(longest) / 8))
    )
    return error * times + torch.finfo(result.dtype).tiny
