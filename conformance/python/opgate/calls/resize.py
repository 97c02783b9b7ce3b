"""Inputs of the same call with other sizes, for which a trace with dynamic sizes must hold, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from opgate.calls.call import Call


def other_inputs(call: Call, tensors: list[torch.Tensor]) -> Iterator[tuple[int, list[torch.Tensor]]]:
    """For each size, that size and the inputs with one more; nothing if the spec trusts an argument."""
    if not call.described["trusted"]:
        # 0 and 1 have special meanings.
        for size in sorted({size for tensor in tensors for size in tensor.shape if size > 1}):
            yield size, [resized(tensor, size, size + 1) for tensor in tensors]


def shapes(tensors: list[torch.Tensor]) -> str:
    """The shapes of the tensors as text: "[2, 3], [3]"."""
    return ", ".join(str(list(tensor.shape)) for tensor in tensors)


def resized(tensor: torch.Tensor, old: int, new: int) -> torch.Tensor:
    """A copy with each dim of size `old` resized to `new`. Values repeat, so that indices stay in range."""
    result = tensor
    for dim, size in enumerate(tensor.shape):
        if size == old:
            positions = torch.arange(new, device=tensor.device) % old
            result = result.index_select(dim, positions)
    return result.clone()
