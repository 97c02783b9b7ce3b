"""Tensors as raw bytes: the bytes from the first to the last element, and where the elements lie in them."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from opgate.specs.dtypes import dtype_name

DTYPES = {dtype_name(each): each for each in vars(torch).values() if isinstance(each, torch.dtype)}


def span(sizes: list[int], strides: list[int]) -> int:
    """The number of elements from the first to the last one."""
    if 0 in sizes:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def geometry_of(tensor: torch.Tensor) -> dict[str, Any]:
    """Where the elements of a tensor lie."""
    return {
        "dtype": dtype_name(tensor.dtype),
        "sizes": list(tensor.size()),
        "strides": list(tensor.stride()),
        "offset": tensor.storage_offset(),
    }


def to_raw(tensor: torch.Tensor) -> tuple[dict[str, Any], bytes]:
    """The geometry of a tensor on the CPU, and its bytes."""
    geometry = geometry_of(tensor)
    count = span(geometry["sizes"], geometry["strides"]) * tensor.element_size()
    return geometry, ctypes.string_at(tensor.data_ptr(), count) if count else b""


def from_raw(
    geometry: dict[str, Any], content: bytes, *, keep_offset: bool = False, device: str = "cpu"
) -> torch.Tensor:
    """A tensor of these bytes in a storage of its own, at its former offset if that matters.

    Raises ValueError if the geometry does not fit the bytes, or is no geometry.
    """
    try:
        dtype = DTYPES[geometry["dtype"]]
        sizes, strides = list(geometry["sizes"]), list(geometry["strides"])
        offset = int(geometry["offset"]) if keep_offset else 0
        numbers = [offset, *sizes, *strides]
        if len(sizes) != len(strides) or not all(isinstance(n, int) and 0 <= n < 1 << 48 for n in numbers):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ValueError("no geometry of a tensor") from None
    elements = span(sizes, strides)
    if elements * dtype.itemsize != len(content):
        raise ValueError("the bytes do not fit the geometry")
    memory = torch.empty(offset + elements, dtype=dtype)
    if content:
        ctypes.memmove(memory.data_ptr() + offset * dtype.itemsize, content, len(content))
    return memory.to(device).as_strided(sizes, strides, offset)
