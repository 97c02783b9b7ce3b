"""Whether a result is right, and if not, in which elements."""

from __future__ import annotations

import torch


def elements_beyond(got: torch.Tensor, exact: torch.Tensor, bound: torch.Tensor) -> torch.Tensor:
    """The elements that are not the exact ones within the bound; NaN must be where the exact ones have it."""
    if not got.is_floating_point() and not got.is_complex():
        return (got != exact) & (bound == 0)
    wide = got.to(exact.dtype)
    near = (wide - exact).abs() <= bound
    equal = (wide == exact) | (got == exact.to(got.dtype)) | (wide.isnan() & exact.isnan())  # or too large
    return ~(near | equal)


def first_difference(got: torch.Tensor, exact: torch.Tensor, beyond: torch.Tensor) -> str:
    """How many elements differ, and where the first one is, what it is and what is right."""
    at = tuple(int(i) for i in beyond.nonzero()[0]) if beyond.dim() else ()
    place = f" at {list(at)}" if at else ""
    first = f"the first{place}: got {got[at].item():.9g}, and {exact[at].item():.9g} is right"
    return f"{int(beyond.sum())} of {beyond.numel()} elements differ, {first}"


def is_constant(tensor: torch.Tensor) -> bool:
    """Whether all elements have the same value; NaN has none, and a tensor without elements has one."""
    return tensor.numel() == 0 or bool((tensor == tensor.flatten()[:1]).all())
