"""vmap.equal: under torch.func.vmap the call returns what the calls one by one return."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator

import torch

from opgate import _engine
from opgate.calls.call import Call, first_line, flat_tensors
from opgate.judging.judgement import PASS, Judgement, fail, first_failure
from opgate.judging.registry import check

PROMISED = "torch.func.vmap returns what the calls one by one return"
ROWS = 3
Dims = tuple[int | None, ...]


def batchings(tensors: list[torch.Tensor]) -> Iterator[Dims]:
    """The in_dims to try: the mapped dim first in all tensors, last in all, or first in one tensor alone."""
    yield (0,) * len(tensors)
    yield (-1,) * len(tensors)
    if len(tensors) > 1:
        for batched in range(len(tensors)):
            yield tuple(0 if number == batched else None for number in range(len(tensors)))


def among_others(call: Call, tensor: torch.Tensor, dim: int, place: int) -> torch.Tensor:
    """Stacks ROWS rows along `dim`: the tensor at `place`, and elsewhere other values where these may be."""
    rows = [tensor] * ROWS
    if not call.described["trusted"] and (tensor.is_floating_point() or tensor.is_complex()):
        other = tensor.flip(tuple(range(tensor.dim()))) / 2
        rows = [tensor if row == place else other for row in range(ROWS)]
    return torch.stack(rows, dim)


def judge_row(call: Call, tensors: list[torch.Tensor], dims: Dims, place: int) -> Judgement:
    """Maps over rows, the one at `place` being the call's own, and compares that row with the reference."""
    batched = [
        tensor if dim is None else among_others(call, tensor, dim, place)
        for tensor, dim in zip(tensors, dims, strict=True)
    ]
    when = f"with in_dims={dims}"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            results = flat_tensors(torch.func.vmap(call.module(), dims, randomness="same")(*batched))
    except Exception as error:  # a batching rule may raise anything
        return fail(PROMISED, f"{when}, vmap raised: {first_line(error)}")
    got = [list(result.shape) for result in results]
    sizes = [[ROWS, *alone.shape] for alone in call.eager()]
    if got != sizes:
        return fail(PROMISED, f"{when}, the results have sizes {got}, not {sizes}")
    judged = json.loads(_engine.judge_results(call.id, [result[place] for result in results]))
    if judged["verdict"] != "fail":
        return PASS
    return fail(
        PROMISED, f"{when}, row {place}: {judged['happened']}", detail=judged.get("detail"), differs="values"
    )


@check(
    "vmap.equal",
    registered=True,
    variants="contiguous",
    dtypes="first",
    promised="vmappable",
    reference=True,
)
def judge(call: Call) -> Judgement:
    """Maps over rows of all tensors, at the front and at the end, and of each tensor alone."""
    tensors = call.tensors()
    with torch.no_grad():
        return first_failure(
            judge_row(call, tensors, dims, place) for dims in batchings(tensors) for place in (0, ROWS - 1)
        )
