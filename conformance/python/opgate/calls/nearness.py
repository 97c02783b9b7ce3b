"""Compares results with other results that are rounded, too."""

from __future__ import annotations

import torch

from opgate import _engine


def difference_at_largest(got: torch.Tensor, want: torch.Tensor, ulps: float) -> str | None:
    """How they differ by more than `ulps`, measured at the largest element of `want`; None if they do not.

    This is for results whose terms may cancel, where the magnitude of the terms is not known.
    """
    largest = want.abs().nan_to_num().max().item() if want.numel() else 0.0
    return _engine.difference(got, want, ulps, torch.full_like(want, largest, dtype=torch.double))
