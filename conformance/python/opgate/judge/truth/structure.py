"""What all draws of get_inputs() have in common, which a candidate may rely on without a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from opgate.judge.tensors.arguments import tensors_of

FEWEST_DRAWS = 3
FEWEST_ZEROS = 0.1
"""The share of elements that are zero in every draw."""


def structures(draws: Sequence[Sequence[Any]]) -> list[str]:
    """In words, what the floating tensors of all draws have in common besides their sizes."""
    given = [tensors_of(list(draw)) for draw in draws]
    if len(given) < FEWEST_DRAWS or len({len(each) for each in given}) > 1:
        return []
    found = []
    for number, same_argument in enumerate(zip(*given, strict=True)):
        if not same_argument[0].is_floating_point() or len({t.shape for t in same_argument}) > 1:
            continue
        found += [f"argument {number} {words}" for words in common(same_argument)]
    return found


def common(tensors: Sequence[torch.Tensor]) -> list[str]:
    """What these tensors have in common."""
    first = tensors[0]
    if first.dim() == 0 or first.numel() < 4:
        return []
    found = []
    zeros = torch.stack([tensor == 0 for tensor in tensors]).all(0)
    if float(zeros.double().mean()) >= FEWEST_ZEROS:
        found.append("has zeros in the same places")
    if first.shape[-1] > 2:
        steps = [tensor.diff(dim=-1) for tensor in tensors]
        if all(bool((step >= 0).all()) for step in steps) or all(bool((step <= 0).all()) for step in steps):
            found.append("has sorted rows")
    is_square = first.dim() > 1 and first.shape[-1] == first.shape[-2] > 1
    if is_square and all(torch.equal(tensor, tensor.transpose(-1, -2)) for tensor in tensors):
        found.append("is symmetric")
    return found
