"""Copies of a program's tensors, made so that the program does not notice.

On the simulated device a tensor is copied past torch. A copy that torch makes would wait for the program's
kernels, and raise their errors instead of the program's own next call.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import torch


def copy_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """A copy of the tensor's values; None for values that are not known, as while a graph is captured."""
    if tensor.layout is not torch.strided or tensor.device.type == "meta":
        return None
    if tensor.device.type != "cuda" or tensor.numel() == 0:
        return tensor.detach().clone()
    if peek() is not None:
        return simulated_values(tensor)
    return None if torch.cuda.is_current_stream_capturing() else tensor.detach().clone()


def simulated_values(tensor: torch.Tensor) -> torch.Tensor | None:
    """The elements as they lie in memory, on the CPU: conjugated or negated lazily, they are not resolved."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    memory = bytearray((last + 1) * tensor.element_size())
    first = (ctypes.c_char * len(memory)).from_buffer(memory)
    if not peek()(first, ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(len(memory))):
        return None
    return torch.frombuffer(memory, dtype=tensor.dtype).as_strided(tensor.shape, tensor.stride())


@functools.cache
def peek() -> Any:
    """The function of simulator/include/opgate_sim.h; None on other devices."""
    return getattr(ctypes.CDLL(None), "opgate_sim_peek", None)
