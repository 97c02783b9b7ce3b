"""Arguments for an operator that nobody was seen to call, tried out in a process of their own."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import torch

from opgate.first_spec.operators import Operator

SECONDS = 20
SHAPES = [(4, 8), (8,), (2, 3, 8, 8), (2, 3, 8), (4, 4), (1, 3, 8, 8), (3, 8, 8), (6, 4)]
NUMBERS = [1, 2, 4]


def tensor(shape: tuple[int, ...], dtype: str | None = None) -> dict[str, Any]:
    """As spec/sample_json.h has it."""
    described: dict[str, Any] = {"shape": list(shape), "values": "uniform"}
    return described if dtype is None else described | {"values": "uniform(0,1)", "dtype": dtype}


def value_for(argument: Any, shape: tuple[int, ...], number: int) -> Any:
    """One argument as a sample has it. Raises LookupError for a type that nothing is known for."""
    kind = str(argument.type)
    optional = kind.startswith("Optional[")
    if optional:
        return None
    simple: dict[str, Any] = {
        "Tensor": tensor(shape),
        "List[Tensor]": {"tensors": [tensor(shape), tensor(shape)]},
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
    """Sets of arguments worth trying; those with a default are left out."""
    wanted = [argument for argument in operator.schema.arguments if not argument.has_default_value()]
    for shape in SHAPES:
        for number in NUMBERS:
            yield [value_for(argument, shape, number) for argument in wanted]


def made(value: Any) -> Any:
    """An argument for a call."""
    if not isinstance(value, dict):
        return value
    if "tensors" in value:
        return [made(part) for part in value["tensors"]]
    return torch.rand(value["shape"])


def first_accepted(operator: Operator) -> tuple[list[Any] | None, str]:
    """The first set that the operator takes on the CPU; otherwise why it refused the last.

    The calls are made in a forked process: an operator may crash, or hang, for arguments that mean nothing
    to it.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what it prints when it refuses
        torch.set_num_threads(1)  # a pool of threads does not survive a fork
        with os.fdopen(write, "w") as answer:
            json.dump(try_all(operator), answer)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if not text:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        name = signal.Signals(number).name if number else f"exit status {os.WEXITSTATUS(status)}"
        return None, f"the process ended with {name}"
    accepted, why = json.loads(text)
    return accepted, why


def try_all(operator: Operator) -> tuple[list[Any] | None, str]:
    """In the child."""
    base, _, overload = operator.name.partition("::")[2].partition(".")
    packet = getattr(getattr(torch.ops, operator.name.partition("::")[0]), base)
    call = getattr(packet, overload or "default")
    why = "it takes nothing that could be guessed"
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
