"""Sets of dtypes that a spec promises to accept. The names are those of opgate/dtypes.h."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch


def floating() -> tuple[torch.dtype, ...]:
    """float16, bfloat16, float32, float64."""
    import torch

    return torch.float16, torch.bfloat16, torch.float32, torch.float64


def integral() -> tuple[torch.dtype, ...]:
    """uint8, int8, int16, int32, int64: without bool, and without uint16, uint32 and uint64."""
    import torch

    return torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64


def every_dtype() -> tuple[torch.dtype, ...]:
    """Every dtype that OpGate can make tensors of: floating, complex, integral, bool and bits."""
    import torch

    from opgate import _engine

    return tuple(getattr(torch, name) for name in _engine.every_dtype())


def dtype_name(dtype: torch.dtype) -> str:
    """The name of the dtype as the engine writes it: "float32"."""
    return str(dtype).removeprefix("torch.")
