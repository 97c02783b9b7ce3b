"""The same call with another size: what a trace must serve too."""

from __future__ import annotations

import torch


def sizes(tensors: list[torch.Tensor]) -> list[int]:
    """The sizes that can be changed, each once: 0 and 1 mean something of their own."""
    return sorted({size for tensor in tensors for size in tensor.shape if size > 1})


def resized(tensors: list[torch.Tensor], old: int, new: int) -> list[torch.Tensor]:
    """Every dim of size `old` has size `new`; values repeat, so that indices stay in range."""
    return [_resized(tensor, old, new) for tensor in tensors]


def _resized(tensor: torch.Tensor, old: int, new: int) -> torch.Tensor:
    result = tensor
    for dim, size in enumerate(tensor.shape):
        if size == old:
            positions = torch.arange(new, device=tensor.device) % old
            result = result.index_select(dim, positions)
    return result.clone()
