"""The values that a spec gives its tensor arguments: the names of opgate/domains.h, and the same bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from opgate.specs.dtypes import dtype_name

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch


@dataclass(frozen=True)
class TensorArgument:
    """A tensor to generate: its shape, and a value domain in the engine's notation: "uniform(0,1)"."""

    shape: tuple[int, ...]
    values: str = "uniform"
    dtype: str | None = None
    """A fixed dtype, such as "int64"; None for the dtype of the call under test."""

    def of(self, dtype: torch.dtype) -> TensorArgument:
        """Fixes the dtype."""
        return replace(self, dtype=dtype_name(dtype))

    def as_json(self) -> dict[str, Any]:
        """The format of spec/json/sample_json.h."""
        described: dict[str, Any] = {"shape": list(self.shape), "values": self.values}
        if self.dtype is not None:
            described["dtype"] = self.dtype
        return described


@dataclass(frozen=True)
class GeneratorArgument:
    """A CPU generator with this seed, new for each call."""

    seed: int

    def as_json(self) -> dict[str, Any]:
        """The format of spec/json/sample_json.h."""
        return {"seed": self.seed}


@dataclass(frozen=True)
class DeviceOfCase:
    """The device of the case, for a Device argument."""

    def as_json(self) -> dict[str, Any]:
        """The format of spec/json/sample_json.h."""
        return {"device": "of the case"}


device_of_case = DeviceOfCase()


def generator(seed: int) -> GeneratorArgument:
    """A generator for a Generator argument. Raises ValueError for a negative seed."""
    if seed < 0:
        raise ValueError("generator: the seed must not be negative")
    return GeneratorArgument(seed)


def uniform(*shape: int, low: float | None = None, high: float | None = None) -> TensorArgument:
    """Values spread evenly over [low, high), by default [-1, 1); integers by default in [-100, 100].

    Raises ValueError if only one of low and high is given.
    """
    if (low is None) != (high is None):
        raise ValueError("uniform: give both low and high, or neither")
    return TensorArgument(shape, "uniform" if low is None else f"uniform({low!r},{high!r})")


def positive(*shape: int) -> TensorArgument:
    """Values that are neither 0 nor negative: floats in (0, 1], integers in [1, 100], bools True."""
    return TensorArgument(shape, "positive")


def indices(*shape: int, n: int) -> TensorArgument:
    """Integers in [0, n), int64 unless fixed otherwise with .of(torch.int32).

    Raises ValueError if n is negative, or 0 for a shape that has elements.
    """
    return _integers(shape, "indices", n, least=0 if 0 in shape else 1)


def sorted_indices(*shape: int, n: int) -> TensorArgument:
    """Like indices, in ascending order over the whole tensor, with repeats and gaps: segment ids."""
    return _integers(shape, "sorted_indices", n, least=0 if 0 in shape else 1)


def offsets(count: int, n: int) -> TensorArgument:
    """`count` boundaries of intervals that divide [0, n): int64, ascending, the first 0 and the last n."""
    return _integers((count,), "offsets", n, least=0)


def permutation(count: int) -> TensorArgument:
    """The numbers 0 ... count-1, each once, in any order: int64."""
    return TensorArgument((count,), "permutation", "int64")


def values(numbers: Sequence[Any], shape: Sequence[int] | None = None) -> TensorArgument:
    """These numbers, nested like the tensor: values([[0, 1, 1, 8, 8]]) has shape (1, 5).

    `shape` gives a shape that nesting cannot: values([], shape=(0, 5)). Raises ValueError for rows of unequal
    length, and where the shape has another number of elements.
    """
    found, flat = _flattened(numbers)
    shape = found if shape is None else tuple(shape)
    if math.prod(shape) != len(flat):
        raise ValueError(f"values: {len(flat)} numbers are given for a shape of {math.prod(shape)} elements")
    return TensorArgument(shape, f"literal({','.join(map(repr, flat))})" if flat else "literal")


def extremes(*shape: int) -> TensorArgument:
    """Ordinary values mixed with the dtype's largest, its lowest and its smallest normal number."""
    return TensorArgument(shape, "extremes")


def subnormals(*shape: int) -> TensorArgument:
    """Ordinary values mixed with the smallest and the largest subnormal number of either sign."""
    return TensorArgument(shape, "subnormals")


def signed_zeros(*shape: int) -> TensorArgument:
    """Ordinary values mixed with 0 and -0."""
    return TensorArgument(shape, "signed_zeros")


def infinities(*shape: int) -> TensorArgument:
    """Ordinary values mixed with both infinities."""
    return TensorArgument(shape, "infinities")


def nans(*shape: int) -> TensorArgument:
    """Ordinary values mixed with NaN, the one that torch's own conversions make."""
    return TensorArgument(shape, "nans")


def special(*shape: int) -> TensorArgument:
    """Ordinary values mixed with all of the above."""
    return TensorArgument(shape, "special")


def _integers(shape: tuple[int, ...], family: str, n: int, *, least: int) -> TensorArgument:
    if n < least:
        raise ValueError(f"{family}: n is {n}, and must be at least {least}")
    return TensorArgument(shape, f"{family}({n})", "int64")


def _flattened(numbers: Any) -> tuple[tuple[int, ...], list[float]]:
    """The shape of nested sequences, and their numbers in row-major order."""
    if not isinstance(numbers, Sequence):
        return (), [float(numbers)]
    if all(isinstance(each, float) for each in numbers):  # also of a million, for which recursion takes long
        return (len(numbers),), list(numbers)
    parts = [_flattened(part) for part in numbers]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise ValueError(f"values: parts of unlike shapes {sorted(shapes)} in one sequence")
    return (len(parts), *(shapes.pop() if shapes else ())), [number for _, flat in parts for number in flat]
