"""Which sizes the results of a function have, seen in calls of its recorded samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.calls.call import flat_tensors, keyword_names, overload_of, split_keywords
from opgate.first_spec.guess import in_a_child
from opgate.first_spec.operators import Operator

CALLS = 64  # of the recorded samples, in several layouts


@dataclass
class Seen:
    """One call: the shapes and dtypes of its tensors and results, and the strides of each result.

    For a result it is known whether it is contiguous, and which tensors it has the strides of, as
    torch.empty_like gives them.
    """

    arguments: dict[str, tuple[list[int], str]]
    """By the expression of the tensor: "x", or "parts[0]" for the first one of a list."""
    results: list[tuple[list[int], str, bool, list[str]]]


def seen_results(function: Operator, recorded: Path) -> tuple[list[Seen], str]:
    """What calls on the CPU have shown; if there are none, also why."""
    answer, died = in_a_child(lambda: look(function, str(recorded)))
    if answer is None:
        return [], died
    calls, why = answer
    return [Seen(arguments, results) for arguments, results in calls], why


def look(function: Operator, recorded: str) -> tuple[list[Any], str]:
    """Makes the calls, in the forked process. Returns what JSON holds of them, and why there are none."""
    found: list[Any] = []
    why = "no call on the CPU is recorded"
    _engine.load([], "[]", {}, {}, {}, "", recorded)
    overload = overload_of(function.name)
    planned = _engine.plan("[]", ["effect.mutation", "value.layout"], function.name)
    for call_id in [call_id for call_id, _ in planned if call_id.endswith("/cpu")][:CALLS]:
        arguments = _engine.arguments(call_id)
        described = {}
        strides = {}  # of what torch.empty_like makes of each tensor
        for formal, value in zip(overload._schema.arguments, arguments, strict=False):
            is_list = isinstance(value, list) and len(value) > 0
            first = value[0] if is_list else value
            if isinstance(first, torch.Tensor):
                expression = f"{formal.name}[0]" if is_list else formal.name
                described[expression] = (list(first.shape), str(first.dtype))
                strides[expression] = torch.empty_like(first).stride()
        positional, keywords = split_keywords(arguments, keyword_names(overload))
        try:
            with torch.no_grad():
                results = flat_tensors(overload(*positional, **keywords))
        except Exception as error:  # a function may raise anything
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
            continue
        shapes = [
            (
                list(each.shape),
                str(each.dtype),
                each.is_contiguous(),
                [name for name, expected in strides.items() if expected == each.stride()],
            )
            for each in results
        ]
        found.append((described, shapes))
    return found, why


def like_argument(calls: list[Seen], result: int) -> str | None:
    """The tensor whose sizes and dtype the result always had; None if there is none."""
    for name in calls[0].arguments:
        if all(tuple(call.arguments.get(name, ())) == tuple(call.results[result][:2]) for call in calls):
            return name
    return None


def sizes_from_arguments(calls: list[Seen], result: int) -> list[str] | None:
    """An expression for each size of the result, as "x.size(0)"; None if the calls do not show one."""
    ranks = {len(call.results[result][0]) for call in calls}
    if len(ranks) != 1:
        return None
    return [size_from_arguments(calls, result, dim) or "?" for dim in range(ranks.pop())]


def size_from_arguments(calls: list[Seen], result: int, dim: int) -> str | None:
    """An expression for one size: that of an argument, or a number."""
    sizes = [call.results[result][0][dim] for call in calls]
    for name, (shape, _) in calls[0].arguments.items():
        for position in range(len(shape)):
            given = [call.arguments.get(name, ([], ""))[0][position : position + 1] for call in calls]
            if given == [[size] for size in sizes]:
                return f"{name}.size({position})"
    return str(sizes[0]) if len(set(sizes)) == 1 and len(calls) > 1 else None
