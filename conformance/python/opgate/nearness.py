"""How far results may be from others that round, too."""

from __future__ import annotations

import torch

from opgate import _engine


def difference_at_largest(got: torch.Tensor, want: torch.Tensor, ulps: float) -> str | None:
    """How they differ by more than `ulps` at the largest element of `want`; None where they do not.

    For results of which nothing is known but that their terms may cancel.
    """
    largest = want.abs().nan_to_num().max().item() if want.numel() else 0.0
    return _engine.difference(got, want, ulps, torch.full_like(want, largest, dtype=torch.double))
