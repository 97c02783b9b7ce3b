"""opgate.check: checks an operator or a function inside an existing test, without a spec of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.assertion.call_arguments import calls_of, is_sequence
from opgate.assertion.function_samples import operator_for
from opgate.assertion.spec import SMALLER, spec_of
from opgate.calls.call import Call, overload_of
from opgate.calls.case_id import CaseId
from opgate.checks import load_checks
from opgate.functions.methods import Method
from opgate.functions.registered import callable_of, is_function, resolve
from opgate.judging.judge_call import judge_call
from opgate.packages.package import PackageStore
from opgate.specs.accuracy import Accuracy
from opgate.specs.names import subject_name
from opgate.specs.spec import OpSpec, caller

AT_GIVEN_SIZE = (
    "effect.mutation",
    "fake.metadata",
    "grad.reference",
    "memory.bounds",
    "value.reference",
)
"""The checks that see a large sample as it is given, once; all others see a smaller one like it."""
COMPILING = ("aoti", "compile")  # groups of checks that run a compiler, which takes seconds for each


def check(
    op: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    reference: Callable[..., Any] | str | None = None,
    accuracy: Accuracy | None = None,
    dtypes: Sequence[torch.dtype] = (),
    promises: Sequence[str] = (),
    checks: Sequence[str] = (),
) -> None:
    """Raises AssertionError with every finding that OpGate has for `op` on the CPU.

    `op` is `torch.ops.ns.op` (or one of its overloads), what `torch.library.custom_op` returned,
    "ns::op.overload", or any function that takes tensors: of an extension module, in Python, a
    `torch.autograd.Function`, a bound method, a `functools.partial`, a `torch.nn.Module`, or its name
    "module:function". `args` and `kwargs` are the arguments of one call, as `torch.library.opcheck` takes
    them. Instead, `args` may be a list of samples, each with the arguments of one call in schema order.
    A function is first called once with each sample, to see which arguments it writes and what it returns.
    Arguments are tensors, or `opgate.uniform(...)` and the like. Tensors keep their dtype, and no other is
    tried. Generated tensors take each of `dtypes` in turn (float32 where none are given). Where `dtypes` are
    given, the operator must refuse any other dtype. Where a tensor requires a gradient, derivatives are
    checked, too.

    For a sample with more than 16384 elements, most checks see a smaller one like it; the sample as it is
    given is called once, and compared with the reference.

    `reference` and `accuracy` are those of a spec. Without a reference, the operator itself in double takes
    its place, which checks the rounding but not the formula; if it does not take double, there is none.
    `checks` are ids; by default, all checks run
    except those that compile. Raises ValueError if there is nothing to check, TypeError for an `op` or an
    argument of another type and for arguments that do not fit the schema, RuntimeError for an `op` that does
    not exist, and what a function raises for a sample.
    """
    where = caller()
    if is_sequence(args) and len(args) == 0 and not kwargs:
        raise ValueError("opgate.check: there are no samples, so nothing would be checked")
    with named(op, args, kwargs, tuple(dtypes)) as name:
        _engine.schema(name)  # raises RuntimeError if there is no such operator
        try:
            samples = calls_of(overload_of(name), args, kwargs)
        except TypeError as error:
            raise TypeError(f"opgate.check: {error}") from None
        written = spec_of(name, samples, reference, accuracy, dtypes, promises, where)
        findings = run(written, list(checks) or default_checks(declared=bool(dtypes)))
    if findings:
        raise AssertionError(f"{len(findings)} findings for {name}\n\n" + "\n\n".join(findings))


def named(
    op: Any, args: Any, kwargs: Mapping[str, Any] | None, dtypes: tuple[torch.dtype, ...]
) -> AbstractContextManager[str]:
    """The name of an operator, and of a function as long as the context lasts."""
    name = subject_name(op)
    if not is_function(name):
        return nullcontext(name)
    function = resolve(op) if isinstance(op, str) else callable_of(op)
    if isinstance(function, Method):
        raise ValueError(f"opgate.check: {name} is a method: give the method of an object in its place")
    return operator_for(function, args, kwargs, (dtypes or (torch.float32,))[0])


def default_checks(*, declared: bool) -> list[str]:
    """All checks that need no compiler; value.dtype only where the accepted dtypes are `declared`."""
    every = [*_engine.native_checks(), *load_checks()]
    return [
        name
        for name in every
        if name.partition(".")[0] not in COMPILING and (declared or name != "value.dtype")
    ]


def run(written: OpSpec, checks: list[str]) -> list[str]:
    """The findings of these checks, one text each: the first finding of each check."""
    references = {written.name: written.reference_function} if written.reference_function else {}
    _engine.load([], json.dumps([written.as_json()]), references)
    in_python = load_checks()
    described_checks = json.dumps([each.as_json() for each in in_python.values()])
    packages = PackageStore(Path(), [], [])
    findings: dict[str, str] = {}
    judged = False
    reason = "no check applies"
    for call_id, names in _engine.plan(described_checks, checks, written.name):
        chosen = [name for name in names if not is_left_out(written, call_id, name)]
        for name, judgement in judge_call(Call(call_id, packages), chosen, in_python)[0].items():
            if judgement["verdict"] == "owed":
                reason = judgement["reason"]
                continue
            judged = True
            if judgement["verdict"] != "pass":
                findings.setdefault(name, _engine.finding_text(f"{call_id}/{name}", json.dumps(judgement)))
    if not judged:
        raise ValueError(f"opgate.check: nothing could be checked: {reason}")
    return list(findings.values())


def is_left_out(written: OpSpec, call_id: str, check_name: str) -> bool:
    """Whether this is the call of a large sample, and a smaller one like it tells as much."""
    call = CaseId.of_call(call_id)
    has_smaller = any(sample.name == call.sample + SMALLER for sample in written.samples)
    return has_smaller and (call.variant != "contiguous" or check_name not in AT_GIVEN_SIZE)
