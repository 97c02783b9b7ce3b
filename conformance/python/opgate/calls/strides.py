"""Strides as they are compared."""

from __future__ import annotations

import torch


def strides(tensor: torch.Tensor) -> list[int]:
    """The strides that have a meaning: those of dims of size 2 or more."""
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return []
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]
