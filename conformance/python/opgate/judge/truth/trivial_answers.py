"""Answers that need no kernel, and what a sample is worth on which one of them is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from opgate.judge.tensors.arguments import tensors_of
from opgate.judge.tensors.comparison import elements_beyond
from opgate.judge.truth.reference import Reference, Results

HALF = "a computation in float16"
OTHER_DRAW = "the result for another draw"
"""It lies in the memory of an earlier call."""


def is_right(answer: Results, returned: Results, exact: Results, bounds: Results) -> bool:
    """Whether the answer, in the dtypes of the returned one, is within the bounds; it must have its sizes."""
    return all(
        not bool(elements_beyond(one.to(result.dtype), of, within).any())
        for one, result, of, within in zip(answer, returned, exact, bounds, strict=True)
    )


def trivial_answers(
    reference: Reference, arguments: Sequence[Any], returned: Results, exact: Results
) -> Iterator[tuple[str, Results]]:
    """Each trivial answer that has the sizes of the right one, if that has tensors."""
    if not returned:
        return
    yield "zeros", [torch.zeros_like(result) for result in returned]
    for number, given in enumerate(tensors_of(list(arguments))):
        if all(given.shape == result.shape for result in returned):
            yield f"argument {number} itself", [given for _ in returned]
    if all(result.is_floating_point() and result.numel() > 1 for result in returned):
        yield "a constant", [torch.full_like(one, float(one.mean())) for one in exact]
    if all(result.dtype in (torch.float32, torch.float64) for result in returned):
        try:
            rounded = reference.in_double(arguments, half=True)
        except Exception:  # it names a dtype, so that there is no such form
            return
        yield HALF, [result.half().double() for result in rounded]
