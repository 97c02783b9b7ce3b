"""The arguments and the results of calls as structures of tensors and plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

PLAIN = (bool, int, float, str, type(None))


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
    if "dict" in structure:
        return {key: put_together(part, tensors) for key, part in structure["dict"].items()}
    parts = structure.get("list", structure.get("tuple"))
    made = [put_together(part, tensors) for part in parts]
    return made if "list" in structure else tuple(made)


def mapped(value: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The value with the function applied to each tensor."""
    structure, tensors = taken_apart(value)
    return put_together(structure, [function(tensor) for tensor in tensors])


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
        return one == other
    return len(parts) == len(others) and all(map(same_structure, parts, others))
