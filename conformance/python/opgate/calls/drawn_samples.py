"""Samples that are drawn for explore.samples: what the samples of a spec have, combined and varied."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

Choice = TypeVar("Choice")

FAMILIES_WITH_ZERO = ("uniform", "indices", "sorted_indices")
"""The families of domains that a tensor of zeros may belong to."""

ZEROS = "tensors of zeros"
MOST_ELEMENTS = 1 << 14
"""An example may have so many elements, though no sample of the spec has."""


@cache
def whole_numbers(least: int, most: int) -> SearchStrategy[int]:
    """All from least to most. Hypothesis validates each new strategy, which takes longer than to draw."""
    from hypothesis import strategies

    return strategies.integers(least, most)


def pick(draw: DrawFn, choices: Sequence[Choice]) -> Choice:
    """One of the choices, of which the first is the simplest."""
    return choices[draw(whole_numbers(0, len(choices) - 1))]


def is_tensor(argument: object) -> bool:
    """Whether the argument of a described sample is a tensor."""
    return isinstance(argument, dict) and "shape" in argument


def tensors_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The tensor arguments of the sample, including each tensor of a list."""
    found = []
    for argument in sample["arguments"]:
        if isinstance(argument, dict):
            found += [part for part in argument.get("tensors", [argument]) if is_tensor(part)]
    return found


def is_number(value: object) -> bool:
    """Whether it is a whole number, which a bool is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def takes_counts(sample: dict[str, Any]) -> bool:
    """Whether an argument may be the number of something in a tensor, as 12 is and 1 is not."""

    def is_count(value: object) -> bool:
        return any(map(is_count, value)) if isinstance(value, list) else is_number(value) and value > 1

    return any(map(is_count, sample["arguments"]))


def elements_of(sample: dict[str, Any]) -> int:
    """The number of elements of all its tensors."""
    return sum(math.prod(tensor["shape"]) for tensor in tensors_of(sample))


@dataclass(frozen=True)
class Drawn:
    """A sample to draw others from, and how they may differ from it."""

    sample: dict[str, Any]
    sizes_change: bool
    free: bool
    """Whether sizes and numbers need not fit each other: the operator must refuse what it cannot do."""
    values_may_change_places: bool = True


def ways_to_vary(sample: dict[str, Any], *, trusted: bool, any_size: bool) -> Drawn:
    """How samples may change: in values alone if the spec trusts an argument, or lists values of tensors.

    Functions whose calls were recorded need not refuse sizes that do not fit each other, nor a count that
    is larger than the tensor that it is given with.
    """
    if trusted:
        return Drawn(sample, sizes_change=False, free=False, values_may_change_places=False)
    if not any(tensor["values"].startswith("literal") for tensor in tensors_of(sample)):
        return Drawn(sample, sizes_change=True, free=True)
    return Drawn(sample, sizes_change=any_size and not takes_counts(sample), free=False)


def not_large(choices: list[Drawn]) -> list[Drawn]:
    """The samples of which a hundred examples take little time; all of them if all are large."""
    return [choice for choice in choices if elements_of(choice.sample) <= MOST_ELEMENTS] or choices


def draw_sample(
    draw: DrawFn, choices: list[Drawn], *, floating_zeros: bool, ranks: bool
) -> tuple[dict[str, Any], frozenset[str]]:
    """A sample like those of the spec, and what is other in it than in any of them, as words.

    `floating_zeros` and `ranks` allow floating tensors that are all zeros, and tensors of another rank.
    """
    chosen = pick(draw, choices)
    sample = json.loads(json.dumps(chosen.sample))
    changes: set[str] = set()
    if chosen.values_may_change_places:
        combine(draw, sample, chosen, [choice.sample for choice in choices], changes)
    if chosen.free and ranks:
        change_rank(draw, sample, changes)
    if chosen.sizes_change:
        change_sizes(draw, sample, chosen, [choice.sample for choice in choices], changes)
    if chosen.free:
        put_zeros(draw, sample, changes, floating=floating_zeros)
    shapes = ",".join("x".join(map(str, tensor["shape"])) or "0d" for tensor in tensors_of(sample))
    # The engine derives the values from the sample's name.
    sample["name"] = f"explored {draw(whole_numbers(0, 99))} {shapes}"
    return sample, frozenset(changes)


def combine(
    draw: DrawFn, sample: dict[str, Any], chosen: Drawn, samples: list[dict[str, Any]], changes: set[str]
) -> None:
    """Gives arguments that are no tensors the values that other samples have, or nearby whole numbers."""
    shapes = [tensor["shape"] for tensor in tensors_of(sample)]
    for place, own in enumerate(sample["arguments"]):
        found = [own]
        for other in samples:
            value = other["arguments"][place] if place < len(other["arguments"]) else own
            # A count fits the sizes that it is given with.
            fits = (
                chosen.free
                or not takes_counts({"arguments": [value]})
                or shapes == [tensor["shape"] for tensor in tensors_of(other)]
            )
            if not isinstance(value, dict) and fits and value not in found:
                found.append(value)
        if chosen.free and not isinstance(own, dict):
            # Half of a number that may count something, and twice one that is hardly one of three choices.
            others = [
                scaled(own, lambda n: n // 2 if n > 1 else n),
                scaled(own, lambda n: n * 2 if n > 3 else n),
            ]
            found += [value for value in others if value not in found]
        value = pick(draw, found)
        if value != own:
            changes.add("arguments that are no tensors")
        sample["arguments"][place] = value


def scaled(value: Any, by: Callable[[int], int]) -> Any:
    """A whole number, or each of a list, changed: groups, blocks, windows or sizes become others."""
    if isinstance(value, list):
        return [scaled(part, by) for part in value]
    return by(value) if is_number(value) else value


def change_rank(draw: DrawFn, sample: dict[str, Any], changes: set[str]) -> None:
    """Gives all tensors of the largest rank another first dimension, or none."""
    tensors = tensors_of(sample)
    rank = max((len(tensor["shape"]) for tensor in tensors), default=0)
    largest = [tensor for tensor in tensors if len(tensor["shape"]) == rank]
    fewer = ["none"] if rank > 1 and len({tensor["shape"][0] for tensor in largest}) == 1 else []
    change = pick(draw, ["", "", "", "", "2", *fewer])
    if not change:
        return
    changes.add("ranks")
    for tensor in largest:
        tensor["shape"] = tensor["shape"][1:] if change == "none" else [int(change), *tensor["shape"]]


def change_sizes(
    draw: DrawFn, sample: dict[str, Any], chosen: Drawn, samples: list[dict[str, Any]], changes: set[str]
) -> None:
    """Gives dimensions other sizes: any, one of another sample, or a multiple of what divides theirs."""
    tensors = tensors_of(sample)
    occurring = sorted({size for each in samples for tensor in tensors_of(each) for size in tensor["shape"]})
    most = max(MOST_ELEMENTS, *(elements_of(each) for each in samples))

    def size_like(size: int) -> int:
        # An operator may refuse all but the multiples of a vector or a tile.
        power = size & -size
        units = sorted({power, power // 2, power // 4} - {0, 1}) if chosen.free else []
        way = pick(draw, ["any", *(["occurring"] if chosen.free and occurring else []), *units])
        if way == "occurring":
            return pick(draw, occurring)
        if isinstance(way, int):
            return way * draw(whole_numbers(1, max(size // way, 4)))
        return draw(whole_numbers(0, max(size, 4)))

    # Equal sizes may have to be equal, or may be equal by chance: both are tried.
    tied = not chosen.free or pick(draw, [False, True])
    sizes = sorted({size for tensor in tensors for size in tensor["shape"]})
    drawn = {size: size_like(size) for size in sizes}
    shapes = [[drawn[size] if tied else size_like(size) for size in tensor["shape"]] for tensor in tensors]
    if sum(map(math.prod, shapes)) > most:
        return
    for tensor, shape in zip(tensors, shapes, strict=True):
        if tensor["shape"] != shape:
            changes.add("sizes")
        tensor["shape"] = shape
    if tied and chosen.free and pick(draw, [False, True]):  # a number may be a size
        sample["arguments"] = scaled(sample["arguments"], lambda n: drawn.get(n, n) if n > 1 else n)


def put_zeros(draw: DrawFn, sample: dict[str, Any], changes: set[str], *, floating: bool) -> None:
    """Makes one of the tensors all zeros, if its domain has zeros."""
    zeros = [tensor for tensor in tensors_of(sample) if holds_zero(tensor, floating=floating)]
    chosen = pick(draw, [None, None, None, *range(len(zeros))])
    if chosen is not None:
        zeros[chosen]["values"] = "literal(0)"
        changes.add(ZEROS)


def holds_zero(tensor: dict[str, Any], *, floating: bool) -> bool:
    """Whether a tensor of zeros is one of those that the spec describes."""
    family, _, numbers = tensor["values"].rstrip(")").partition("(")
    if family not in FAMILIES_WITH_ZERO or not (floating or "int" in tensor.get("dtype", "")):
        return False
    if family != "uniform" or not numbers:
        return True
    low, high = map(float, numbers.split(","))
    return low <= 0 < high
