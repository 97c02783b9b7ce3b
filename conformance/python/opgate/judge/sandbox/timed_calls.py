"""What the process of a callable shows at once of the results of calls that are timed.

The judge reads its own clock from its request to the answer. It looks afterwards at what the calls returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch

from opgate.judge.tensors.raw_tensor import span


def sample_bytes(tensors: Sequence[torch.Tensor], places: Sequence[float]) -> list[str]:
    """For each tensor, the bytes at these places, which are fractions of its memory.

    Nothing for a tensor with gaps, and for one that is conjugated or negated when it is read.
    """
    return [
        "" if is_read_otherwise(tensor) else bytes_at(tensor, places) for tensor in map(torch.detach, tensors)
    ]


def is_read_otherwise(tensor: torch.Tensor) -> bool:
    """Whether the bytes that are sent later are not all bytes of its memory, as they are."""
    is_dense = span(list(tensor.size()), list(tensor.stride())) == tensor.numel()
    return not is_dense or tensor.is_conj() or tensor.is_neg()


def bytes_at(tensor: torch.Tensor, places: Sequence[float]) -> str:
    """The bytes at these places."""
    size = tensor.numel() * tensor.element_size()
    if size == 0:
        return ""
    return b"".join(ctypes.string_at(tensor.data_ptr() + int(place * size), 1) for place in places).hex()
