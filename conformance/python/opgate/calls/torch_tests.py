"""The operators of torch's own tests (op_db) with their samples, which torch's kernels are known to take."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from opgate.request import UserError

SAMPLES = 40  # of each operator and dtype


def operators() -> list[Any]:
    """All operators of torch's tests. Raises UserError if a package that these need is missing."""
    # An import reports that there is no CUDA, which is no news here.
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ModuleNotFoundError as error:
        raise UserError(f"the samples of torch's tests need the package {error.name}: install it") from error
    return op_db


def variants(op: Any) -> Iterator[Callable[..., Any]]:
    """The ways to call an operator of torch's tests: functional, as a method, in place."""
    yield op.op
    for other in (op.inplace_variant, op.method_variant):
        if other is not None:
            yield other


def call(op: Any, sample: Any) -> None:
    """Each variant once, and the one that writes its result into `out`, which has no elements yet."""

    def cloned(value: Any) -> Any:
        return torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, value)

    for variant in variants(op):
        try:
            result = variant(cloned(sample.input), *cloned(sample.args), **cloned(sample.kwargs))
        except Exception:  # some samples fit one variant only, and each operator refuses in its own way
            continue
        if variant is op.op and op.supports_out and isinstance(result, torch.Tensor):
            with torch.no_grad(), contextlib.suppress(Exception):  # for sparse results, for instance
                op.op(sample.input, *sample.args, **sample.kwargs, out=result.new_empty(0))


def samples_of(op: Any, dtype: torch.dtype) -> Iterator[Any]:
    """The first samples of the operator in this dtype, on the CPU."""
    try:
        yield from itertools.islice(op.sample_inputs("cpu", dtype), SAMPLES)
    except Exception:  # operators that need another build of torch raise errors of many types
        return


def dtypes_of(op: Any) -> list[torch.dtype]:
    """The dtypes that torch's own kernels take on the CPU, float32 first."""
    return sorted(op.supported_dtypes("cpu"), key=lambda dtype: (dtype != torch.float32, str(dtype)))


_reached: dict[str, set[str]] = {}  # by the names of operators of torch's tests


def overloads_reached(op: Any) -> set[str]:
    """The overloads that the first samples of an operator of torch's tests call, by name; found out once."""
    if op.full_name in _reached:
        return _reached[op.full_name]
    reached = _reached[op.full_name] = set()

    class Noting(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # otherwise torch imports its compiler, which takes seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            reached.add(func.name())
            return func(*args, **(kwargs or {}))

    with Noting():
        for dtype in dtypes_of(op)[:1]:  # there is none if the operator needs another build of torch
            for sample in itertools.islice(samples_of(op, dtype), 2):
                call(op, sample)
    return reached


def that_reach(overloads: set[str]) -> Iterator[tuple[Any, set[str]]]:
    """The operators of torch's tests that call one of these overloads, each with those that it calls.

    An operator with the name of one is among them in any case, and others only for overloads that none of
    those calls.
    """
    words = {name.partition("::")[2].partition(".")[0].strip("_") for name in overloads}
    named, others = [], []
    for op in operators():
        has_name = {op.name, op.aten_name, op.name.rpartition(".")[2]} & words
        (named if has_name else others).append(op)
    waiting = set(overloads)
    for op in named:
        if reached := overloads_reached(op) & overloads:
            waiting -= reached
            yield op, reached
    for op in others:
        if waiting and (reached := overloads_reached(op) & waiting):
            waiting -= reached
            yield op, reached
