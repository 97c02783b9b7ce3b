"""The arguments and the results of calls as structures of tensors and plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

PLAIN = (bool, int, float, str, type(None))
OF_TORCH = (torch.dtype, torch.layout, torch.memory_format)
WIDE = {"float16", "bfloat16", "float32"}
WIDE_COMPLEX = {"complex32", "complex64"}


class NotJudged(Exception):
    """Something that this command cannot judge, such as an argument that is a set."""


def taken_apart(value: Any) -> tuple[Any, list[torch.Tensor]]:
    """The structure in JSON, and its tensors. Raises NotJudged.

    The keys of dicts are sorted, so that the order of the tensors is that of the names.
    """
    tensors: list[torch.Tensor] = []

    def structure_of(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            return {"tensor": len(tensors) - 1}
        if isinstance(value, list | tuple):
            return {"list" if isinstance(value, list) else "tuple": list(map(structure_of, value))}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: structure_of(part) for key, part in sorted(value.items())}}
        if type(value) in PLAIN:
            return {"value": value}
        if type(value) is complex:
            return {"complex": [value.real, value.imag]}
        if isinstance(value, OF_TORCH):
            return {"torch": str(value).removeprefix("torch.")}
        raise NotJudged(
            f"{type(value).__name__} is neither a tensor, a number, a string nor a list or dict of these"
        )

    return structure_of(value), tensors


def put_together(structure: Any, tensors: list[torch.Tensor]) -> Any:
    """The inverse of taken_apart."""
    if "tensor" in structure:
        return tensors[structure["tensor"]]
    if "value" in structure:
        return structure["value"]
    if "complex" in structure:
        return complex(*structure["complex"])
    if "torch" in structure:
        return getattr(torch, structure["torch"])
    if "dict" in structure:
        return {key: put_together(part, tensors) for key, part in structure["dict"].items()}
    parts = structure.get("list", structure.get("tuple"))
    made = [put_together(part, tensors) for part in parts]
    return made if "list" in structure else tuple(made)


def mapped(value: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The value with the function applied to each tensor."""
    structure, tensors = taken_apart(value)
    return put_together(structure, [function(tensor) for tensor in tensors])


def in_double(value: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same, and dtypes among the values are those of double precision."""

    def widened(structure: Any) -> Any:
        if isinstance(structure, list):
            return [widened(part) for part in structure]
        if not isinstance(structure, dict):
            return structure
        if structure.get("torch") in WIDE:
            return {"torch": "float64"}
        if structure.get("torch") in WIDE_COMPLEX:
            return {"torch": "complex128"}
        return {key: widened(part) for key, part in structure.items()}

    structure, tensors = taken_apart(value)
    return put_together(widened(structure), [function(tensor) for tensor in tensors])


def copy_with_layout(tensor: torch.Tensor) -> torch.Tensor:
    """A copy in a storage of its own with the same strides and offset."""
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    memory = torch.empty(count, dtype=tensor.dtype)
    return memory.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).copy_(tensor)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """All tensors in the value, in order."""
    return taken_apart(value)[1]


def same_structure(one: Any, other: Any) -> bool:
    """Whether two results have the same parts; a list and a tuple are the same, as when unpacked."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    if "dict" in one and "dict" in other and isinstance(one["dict"], dict):
        same_keys = list(one["dict"]) == list(other["dict"])
        return same_keys and all(map(same_structure, one["dict"].values(), other["dict"].values()))
    parts, others = (each.get("list", each.get("tuple")) for each in (one, other))
    if not isinstance(parts, list) or not isinstance(others, list):
        are_nan = all(
            isinstance(each.get("value"), float) and each["value"] != each["value"] for each in (one, other)
        )
        return one == other or are_nan
    return len(parts) == len(others) and all(map(same_structure, parts, others))
