"""Sets of dtypes that a spec promises to accept: the words of opgate/dtypes.h."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a worker whose interpreter lacks torch must live to say so
    import torch


def floating() -> tuple[torch.dtype, ...]:
    """float16, bfloat16, float32, float64."""
    import torch

    return torch.float16, torch.bfloat16, torch.float32, torch.float64


def integral() -> tuple[torch.dtype, ...]:
    """uint8, int8, int16, int32, int64: without bool and the unsigned types torch computes little with."""
    import torch

    return torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64


def dtype_name(dtype: torch.dtype) -> str:
    """As the engine writes it: "float32"."""
    return str(dtype).removeprefix("torch.")
