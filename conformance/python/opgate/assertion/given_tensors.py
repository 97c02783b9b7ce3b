"""The tensors among the arguments that `opgate.check` is given, and how samples hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from opgate.assertion.call_arguments import is_sequence
from opgate.specs.domains import TensorArgument, values


def dtypes_of(samples: Sequence[Sequence[Any]]) -> tuple[torch.dtype, ...]:
    """The floating dtype of the tensors in the samples, if all of them have the same one."""
    found = {tensor.dtype for tensor in tensors_of(samples) if tensor.is_floating_point()}
    return tuple(found) if len(found) == 1 else ()


def tensors_of(samples: Sequence[Sequence[Any]]) -> Iterator[torch.Tensor]:
    """The tensors in the samples, also those in lists."""
    for sample in samples:
        for value in sample:
            for part in parts_of(value):
                if isinstance(part, torch.Tensor):
                    yield part


def parts_of(value: Any) -> Sequence[Any]:
    """The elements of a list, or the value alone."""
    return value if is_sequence(value) else [value]


def described(value: Any, tried: tuple[torch.dtype, ...]) -> Any:
    """An argument of a sample. A tensor becomes its values; its dtype is fixed unless only it is `tried`."""
    if isinstance(value, list | tuple):
        return [described(part, tried) for part in value]
    if not isinstance(value, torch.Tensor):
        return value
    given: TensorArgument = values(value.detach().cpu().flatten().tolist(), shape=tuple(value.shape))
    return given if (value.dtype,) == tried else given.of(value.dtype)
