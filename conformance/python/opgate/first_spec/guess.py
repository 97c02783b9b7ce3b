"""Guesses arguments for an operator without recorded calls, and tries them out in a separate process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import torch

from opgate.calls.call import overload_of
from opgate.calls.forked import in_fork
from opgate.first_spec.operators import Operator

SECONDS = 20
SHAPES = [(4, 8), (8,), (2, 3, 8, 8), (2, 3, 8), (4, 4), (1, 3, 8, 8), (3, 8, 8), (6, 4)]
NUMBERS = [1, 2, 4]


def tensor(shape: tuple[int, ...]) -> dict[str, Any]:
    """A tensor in the format of spec/json/sample_json.h."""
    return {"shape": list(shape), "values": "uniform"}


def value_for(argument: Any, shape: tuple[int, ...], number: int) -> Any:
    """One argument in the format of a sample. Raises LookupError for a type without a known value."""
    kind = str(argument.type)
    if kind.startswith("Optional["):
        return None
    simple: dict[str, Any] = {
        "Tensor": tensor(shape),
        "List[Tensor]": {"tensors": [tensor(shape), tensor(shape)]},
        "List[Optional[Tensor]]": {"tensors": [tensor(shape), None]},
        "int": number,
        "float": float(number),
        "number": float(number),
        "bool": False,
        "str": "",
        "List[int]": [number] * max(len(shape) - 2, 1),
        "List[float]": [float(number)],
    }
    if kind not in simple:
        raise LookupError(f"an argument of type {kind}")
    return simple[kind]


def candidates(operator: Operator) -> Iterator[list[Any]]:
    """Sets of arguments that are worth trying. Arguments with a default are left out."""
    wanted = [argument for argument in operator.schema.arguments if not argument.has_default_value()]
    for shape in SHAPES:
        for number in NUMBERS:
            yield [value_for(argument, shape, number) for argument in wanted]


def made(value: Any) -> Any:
    """The argument as a call takes it."""
    if not isinstance(value, dict):
        return value
    if "tensors" in value:
        return [made(part) for part in value["tensors"]]
    return torch.rand(value["shape"])


def first_accepted(operator: Operator) -> tuple[list[Any] | None, str]:
    """The first set that the operator accepts on the CPU; otherwise None, and why it refused the last set."""
    answer, died = in_a_child(lambda: try_all(operator))
    return (None, died) if answer is None else (answer[0], answer[1])


def in_a_child(compute: Callable[[], Any]) -> tuple[Any, str]:
    """What `compute` returns in a forked process, as JSON holds it; or None, and how the process ended.

    Calls are made there, because an operator may crash or hang on arguments that do not make sense for it.
    """

    def in_silence() -> Any:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides what the operator prints when it refuses
        return compute()

    answer, status = in_fork(in_silence, SECONDS)
    if answer is not None:
        return answer, ""
    ended = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    return None, f"the process ended with {ended}"


def try_all(operator: Operator) -> tuple[list[Any] | None, str]:
    """Tries all candidates, in the forked process; returns as first_accepted() does."""
    call = overload_of(operator.name)
    why = "there are no arguments to guess"
    try:
        for arguments in candidates(operator):
            try:
                call(*(made(value) for value in arguments))
            except Exception as error:  # an operator may raise anything
                why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
            else:
                return arguments, ""
    except LookupError as error:
        why = str(error)
    return None, why
