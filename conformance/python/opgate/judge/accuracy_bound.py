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

from opgate.judge.arguments import tensors_of
from opgate.judge.reference import Reference, Results

TIMES = 64
"""What a right kernel may lose by another order of operations, in units of the reference's error."""
TIMES_OF_HALF = 4
"""The same for results of 16 bits, whose rounding is most of the error."""
LONGEST = 16
"""A long sum that is added up one by one has more error, by the root of its length, up to this factor."""


def exact_and_bound(
    reference: Reference, arguments: Sequence[Any], returned: Results
) -> tuple[Results, Results, str]:
    """For each result: the exact values, the largest error that is right, and why there is no better one.

    The bound of an element that a rounding changes without measure (an index, a step) is infinite.
    """
    try:
        exact = reference.in_double(arguments)
        moved = [reference.in_double(arguments, move=1) for _ in range(3)]
        why = ""
    except Exception as error:  # a reference that names a dtype cannot be called in another one
        exact, moved, why = [result.double() for result in returned], [], str(error).splitlines()[0]
    if [one.shape for one in exact] != [one.shape for one in returned]:
        exact, moved, why = [result.double() for result in returned], [], "it has other results in double"
    longest = length_of_sums(arguments, returned)
    bounds = []
    for i, result in enumerate(returned):
        bounds.append(bound(result, exact[i], [each[i] for each in moved], longest))
        exact[i] = exact[i] if result.is_floating_point() else result
    return exact, bounds, why


def length_of_sums(arguments: Sequence[Any], results: Results) -> int:
    """An estimate of how many terms an element of a result may be summed from."""
    given = tensors_of(list(arguments))
    sides = [side for tensor in given for side in tensor.shape]
    ratio = max(t.numel() for t in given) // max(1, min((r.numel() for r in results), default=1))
    return max([1, ratio, *sides])


def bound(result: torch.Tensor, exact: torch.Tensor, moved: Results, longest: int) -> torch.Tensor:
    """The largest error of each element of one result."""
    if not result.is_floating_point():
        unstable = torch.zeros(result.shape, dtype=torch.bool)
        for other in moved:
            unstable |= other != exact
        return torch.where(unstable, torch.inf, 0.0).double()
    epsilon = torch.finfo(result.dtype).eps
    exact = exact.double()
    error = (result.double() - exact).abs()
    for other in moved:
        error = torch.maximum(error, (other.double() - exact).abs())
    error = torch.maximum(error, exact.abs() * (epsilon / 2)).nan_to_num(nan=0.0, posinf=0.0)
    if error.dim():  # three moves may by chance leave an element where it is: its neighbours show more
        error = torch.maximum(error, error.square().mean(-1, keepdim=True).sqrt() / 4)
    times = TIMES_OF_HALF if epsilon > 1e-5 else TIMES * min(LONGEST, max(1, math.sqrt(longest) / 8))
    return error * times + torch.finfo(result.dtype).tiny
