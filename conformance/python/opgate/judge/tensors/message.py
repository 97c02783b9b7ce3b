"""What messages between the judge and its processes hold: arguments of a call, and objects of torch."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import torch

from opgate.judge.tensors.arguments import taken_apart
from opgate.judge.tensors.raw_tensor import from_raw, to_raw


def as_message(arguments: Sequence[Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The head and the blobs of a message with these arguments."""
    structure, tensors = taken_apart(list(arguments))
    raw = [to_raw(tensor) for tensor in tensors]
    return {"structure": structure, "geometries": [each for each, _ in raw]}, [each for _, each in raw]


def tensors_in(head: dict[str, Any], blobs: Sequence[bytes], device: str) -> list[torch.Tensor]:
    """The tensors of such a message, on the device."""
    return [
        from_raw(geometry, content, keep_offset=True, device=device)
        for geometry, content in zip(head["geometries"], blobs, strict=True)
    ]


def saved(value: object) -> bytes:
    """The value as torch writes it."""
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def loaded(content: bytes) -> Any:
    """What saved() has written, if it consists of tensors and plain values."""
    return torch.load(io.BytesIO(content), weights_only=True)
