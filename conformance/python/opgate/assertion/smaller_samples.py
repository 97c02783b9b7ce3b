"""Smaller samples instead of large ones, with the same structure, for most of the checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from opgate.assertion.call_arguments import is_sequence
from opgate.assertion.given_tensors import parts_of
from opgate.specs.domains import TensorArgument

LARGE = 1 << 14
"""A sample is large if its tensors have more elements together."""
BASES = (32, 16, 8, 4)
"""What sizes are made of: a size is one of these, or a multiple, plus what is left of the given size."""
OF_ANY_SIZE = (
    "uniform",
    "positive",
    "extremes",
    "subnormals",
    "signed_zeros",
    "infinities",
    "nans",
    "special",
)


def smaller(sample: Sequence[Any]) -> Iterator[list[Any]]:
    """Samples like a large one, of which the first that is accepted is the best; none if it is small.

    Equal sizes stay equal, larger ones larger, and what is left of them in multiples of 32 stays. In the
    first sample, whole numbers that are such a size change with it. In the last one, only the first dimension
    of each tensor is smaller, as for the rows of an operator whose weights have fixed sizes.
    """
    shapes = [tuple(part.shape) for value in sample for part in parts_of(value) if is_tensor(part)]
    if sum(map(math.prod, shapes)) <= LARGE:
        return
    every = {size for shape in shapes for size in shape}
    rows = {shape[0] for shape in shapes if shape}
    for sizes, dims, counts in ((every, None, True), (every, None, False), (rows, 1, False)):
        new = fewer(sizes, shapes, dims)
        made = [made_smaller(value, new, dims, counts=counts) for value in sample]
        if new and not any(value is NotImplemented for value in made):
            yield made


def is_tensor(part: Any) -> bool:
    """Whether it is a tensor, or stands for one."""
    return isinstance(part, torch.Tensor | TensorArgument)


def fewer(sizes: set[int], shapes: list[tuple[int, ...]], dims: int | None) -> dict[int, int]:
    """The new size for each large one, from the largest base with which the tensors are not large."""
    new: dict[int, int] = {}
    for base in BASES:
        new = {}
        last = 0
        for size in sorted(size for size in sizes if size > 2 * base):
            last = new[size] = next(n for n in range(base + size % base, size + 1, base) if n > last)
        if sum(math.prod(cut(shape, new, dims)) for shape in shapes) <= LARGE:
            break
    return new


def cut(shape: Sequence[int], new: dict[int, int], dims: int | None) -> list[int]:
    """The shape with new sizes in its first `dims` dimensions, or in all."""
    return [new.get(size, size) if dims is None or dim < dims else size for dim, size in enumerate(shape)]


def made_smaller(value: Any, new: dict[int, int], dims: int | None, *, counts: bool) -> Any:
    """The argument with new sizes; NotImplemented if it is a tensor whose values do not fit them."""
    if is_sequence(value):
        parts = [made_smaller(part, new, dims, counts=counts) for part in value]
        return NotImplemented if any(part is NotImplemented for part in parts) else parts
    if isinstance(value, TensorArgument):
        return of_any_size(value, cut(value.shape, new, dims))
    if isinstance(value, torch.Tensor):
        part = value[tuple(slice(size) for size in cut(value.shape, new, dims))]
        return part if part.is_floating_point() or part.is_complex() else with_fitting(part, new)
    if counts and isinstance(value, int) and not isinstance(value, bool):
        return new.get(value, value)
    return value


def of_any_size(generated: TensorArgument, shape: Sequence[int]) -> Any:
    """The same values with another shape; NotImplemented if they depend on a size, as indices do."""
    if tuple(shape) == generated.shape:
        return generated
    family = generated.values.partition("(")[0]
    return replace(generated, shape=tuple(shape)) if family in OF_ANY_SIZE else NotImplemented


def with_fitting(numbers: torch.Tensor, new: dict[int, int]) -> Any:
    """Whole numbers that may be indices or offsets into a size, at most as large as its new one allows.

    They keep their order. NotImplemented for numbers beyond all sizes, which may count elements.
    """
    if numbers.numel() == 0 or numbers.dtype == torch.bool or not new:
        return numbers
    largest = int(numbers.max())
    size = min((size for size in new if size >= largest), default=None)
    if size is None or int(numbers.min()) < -min(new.values()):
        return NotImplemented
    fitting = numbers.clamp(max=new[size] - 1)
    return torch.where(numbers == size, torch.full_like(numbers, new[size]), fitting)
