"""The samples of a run: arguments that no candidate can know before it is called with them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from opgate import _engine
from opgate.calls.resize import resized
from opgate.judge.tensors.arguments import mapped, put_together, taken_apart, tensors_of

PUBLIC_SEEDS = (0, 42)
"""Seeds that everybody uses, so that memorised results show."""
SECRET_DRAWS = 4
NEAR_DRAWS = 2
GET_INPUTS = "get_inputs()"
"""What draws arguments of a module or function."""
ROWS_OF_ONE_VALUE = "rows of one value"
LARGE = 1 << 22
"""From so many elements on there are fewer samples."""


@dataclass
class Sample:
    """One set of arguments.

    The kind is spec, further (of torch's tests, in other dtypes), public, secret, near, values, sizes,
    layout, altered (other values of parameters of one value), changed (of the others, after all other calls),
    or edge: values for which right formulas differ, such as those of a variance.
    """

    kind: str
    label: str
    arguments: list[Any]


def samples(
    draw: Callable[[int], list[Any]],
    secret: random.Random,
    of_spec: Sequence[tuple[str, str, list[Any]]] = (),
    drawn: str = GET_INPUTS,
) -> Iterator[Sample]:
    """All samples; `draw`, which is called `drawn`, returns the arguments for a seed.

    The reference may refuse some.

    The samples of a spec, or of torch's tests, replace other sizes, for which the operator need not be made.
    """
    for kind, label, arguments in of_spec:
        yield Sample(kind, label, arguments)
    for seed in PUBLIC_SEEDS:
        yield Sample("public", f"{drawn} with the seed {seed}", draw(seed))
    for number in range(SECRET_DRAWS):
        yield Sample("secret", f"{drawn} with secret seed {number + 1}", draw(secret.getrandbits(48)))
    yield from near(draw, secret, drawn)
    first = draw(secret.getrandbits(48))
    is_large = sum(tensor.numel() for tensor in tensors_of(first)) >= LARGE
    torch.manual_seed(secret.getrandbits(48))
    for label, change in (LARGE_CHANGES if is_large else CHANGES).items():
        yield Sample("values", label, changed(draw(secret.getrandbits(48)), change))
    for label, arguments in [] if of_spec else other_sizes(first, secret):
        yield Sample("sizes", label, arguments)
    if not is_large:
        yield from layouts(draw(secret.getrandbits(48)))
        yield Sample("edge", ROWS_OF_ONE_VALUE, changed(first, constant_rows))
        yield Sample("edge", "zeros alone", changed(first, torch.zeros_like))
        yield Sample("edge", "NaN, infinities and subnormals", changed(first, edges))


def near(draw: Callable[[int], list[Any]], secret: random.Random, drawn: str) -> Iterator[Sample]:
    """Two draws, each beside the same with one element of another draw.

    A cache keyed by a few elements confuses the two.
    """
    torch.manual_seed(secret.getrandbits(48))
    for number in range(NEAR_DRAWS):
        label = f"{drawn} with secret seed {SECRET_DRAWS + number + 1}"
        arguments, others = draw(secret.getrandbits(48)), draw(secret.getrandbits(48))
        if not any(t.is_floating_point() and t.numel() > 1 for t in tensors_of(arguments)):
            return
        yield Sample("secret", label, arguments)
        values = iter(tensors_of(others))
        yield Sample(
            "near",
            f"the same but for one element ({label})",
            mapped(arguments, lambda t, values=values: one_of(t, next(values))),
        )


def one_of(tensor: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The tensor with one element of the other one, which has the same sizes."""
    if not tensor.is_floating_point() or tensor.numel() < 2 or tensor.shape != other.shape:
        return tensor
    made = tensor.clone()
    place = tuple(int(torch.randint(side, ())) for side in tensor.shape)
    made[place] = other[place]
    return made


def changed(arguments: list[Any], change: Callable[[torch.Tensor], torch.Tensor]) -> list[Any]:
    """The arguments with floating tensors changed."""
    return mapped(arguments, lambda tensor: change(tensor) if tensor.is_floating_point() else tensor)


def constant_rows(tensor: torch.Tensor) -> torch.Tensor:
    """Each row has one value."""
    return tensor[..., :1].expand(tensor.shape).contiguous() if tensor.dim() else tensor


def one_large(tensor: torch.Tensor) -> torch.Tensor:
    """One element of each row is ten times the others."""
    made = tensor.clone()
    if tensor.dim() and tensor.numel():
        made[..., int(torch.randint(tensor.shape[-1], ()))] *= 10
    return made


def edges(tensor: torch.Tensor) -> torch.Tensor:
    """Some elements are NaN, infinite, -0 or subnormal."""
    made = tensor.clone().flatten()
    tiny = torch.finfo(tensor.dtype).tiny
    special = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0, tiny / 4], dtype=tensor.dtype)
    places = torch.randperm(made.numel())[: special.numel()]
    made[places] = special[: places.numel()]
    return made.view(tensor.shape)


CHANGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "ten times as large": lambda tensor: tensor * 10,
    "five added": lambda tensor: tensor + 5,
    "negated": torch.neg,
    "sorted rows": lambda tensor: tensor.sort(-1).values if tensor.dim() else tensor,
    "one large element in a row": one_large,
}
LARGE_CHANGES = {label: CHANGES[label] for label in ("ten times as large", "five added")}


def other_sizes(arguments: list[Any], secret: random.Random) -> Iterator[tuple[str, list[Any]]]:
    """Each size that occurs is replaced wherever it occurs; so is the first size of all tensors alone."""
    given = tensors_of(arguments)
    sides = sorted({side for tensor in given for side in tensor.shape if side > 1})
    replaced: list[tuple[int, int]] = []
    for side in sides[:6]:
        replaced.append((side, max(1, side // 2 + secret.choice((0, 1)))))
        if sum(tensor.numel() for tensor in given) < LARGE:
            replaced.append((side, side + secret.randint(1, 7)))
    for old, new in replaced:
        if old != new:
            yield (
                f"size {old} is {new}",
                mapped(arguments, lambda t, old=old, new=new: reordered(t, old, new)),
            )


def reordered(tensor: torch.Tensor, old: int, new: int) -> torch.Tensor:
    """The tensor with one of its sizes replaced; its elements are repeated in another order."""
    made = resized(tensor, old, new)
    if not tensor.is_floating_point() or made.shape == tensor.shape:
        return made
    return made.flatten()[torch.randperm(made.numel())].view(made.shape)


def layouts(arguments: list[Any]) -> Iterator[Sample]:
    """Each tensor in turn lies in memory in each way that the engine knows for its sizes."""
    structure, given = taken_apart(arguments)
    for number, tensor in enumerate(given[:4]):
        for name, placed in _engine.laid_out(tensor).items():
            if name != "contiguous":
                others = [*given[:number], placed, *given[number + 1 :]]
                yield Sample("layout", f"argument {number} {name}", put_together(structure, others))
