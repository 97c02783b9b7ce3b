"""What is compared of two results: their strides, and their values where both are rounded."""

from __future__ import annotations

import torch

from opgate import _engine


def strides(tensor: torch.Tensor) -> list[int]:
    """The strides that have a meaning: those of dims of size 2 or more."""
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return []
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def difference_at_largest(got: torch.Tensor, want: torch.Tensor, ulps: float) -> str | None:
    """How they differ by more than `ulps`, measured at the largest element of `want`; None if they do not.

    This is for results whose terms may cancel, where the magnitude of the terms is not known.
    """
    largest = want.abs().nan_to_num().max().item() if want.numel() else 0.0
    return _engine.difference(got, want, ulps, torch.full_like(want, largest, dtype=torch.double))
