"""opgate.check: an operator checked inside a test that exists already, without a spec of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.accuracy import Accuracy, ulps
from opgate.call import Call
from opgate.domains import TensorArgument, values
from opgate.finding import finding_text
from opgate.judging import judge_call
from opgate.names import name_of
from opgate.package import PackageStore
from opgate.registry import load_checks
from opgate.spec import OpSpec, caller

COMPILING = ("aoti", "compile")  # groups of checks that take a compiler, and seconds each
ITSELF = ulps(16).scaled_by_inputs()


def check(
    op: Any,
    samples: Sequence[Sequence[Any]],
    *,
    reference: Callable[..., Any] | str | None = None,
    accuracy: Accuracy | None = None,
    dtypes: Sequence[torch.dtype] = (),
    promises: Sequence[str] = (),
    checks: Sequence[str] = (),
) -> None:
    """Raises AssertionError with every finding that OpGate has for `op` on the CPU.

    `op` is `torch.ops.ns.op` (or one of its overloads), what `torch.library.custom_op` returned, or
    "ns::op.overload". Each of `samples` has the arguments of one call in schema order: tensors, or
    `opgate.uniform(...)` and its like. Tensors keep their dtype, and no other is tried; generated ones take
    each of `dtypes` in turn (float32 where none are given), and any other dtype must be refused.

    `reference` and `accuracy` are those of a spec. Without a reference the operator itself in double stands
    for it: then its rounding is checked and its formula is not. `checks` are ids; by default all but those
    that compile. Raises ValueError where there is nothing to check, RuntimeError for arguments that do not
    fit the schema.
    """
    if not samples:
        raise ValueError("opgate.check: there are no samples, so nothing would be checked")
    name = operator_name(op)
    written = OpSpec(name, caller())
    swept = tuple(dtypes) or dtypes_of(samples) or (torch.float32,)
    written.dtypes(*swept, device="cpu")
    written.reference(name if reference is None else reference)
    written.accuracy(accuracy or ITSELF)
    written.promises(*promises)
    for number, sample in enumerate(samples):
        written.sample(*(described(value, swept) for value in sample), named=f"sample {number}")
    findings = run(written, list(checks) or default_checks(declared=bool(dtypes)))
    if findings:
        raise AssertionError(f"{len(findings)} findings for {name}\n\n" + "\n\n".join(findings))


def operator_name(op: Any) -> str:
    """As a spec names it."""
    if isinstance(op, str):
        return op
    op = getattr(op, "_opoverload", op)  # of torch.library.custom_op
    if isinstance(op, torch._ops.OpOverloadPacket):
        if len(op.overloads()) > 1:
            raise ValueError(
                f"opgate.check: {op} has several overloads; name one, as {op}.{op.overloads()[0]}"
            )
        op = getattr(op, op.overloads()[0])
    if not isinstance(op, torch._ops.OpOverload):
        raise TypeError(f"opgate.check: {op!r} is no operator that PyTorch's dispatcher knows")
    return name_of(op)


def dtypes_of(samples: Sequence[Sequence[Any]]) -> tuple[torch.dtype, ...]:
    """The floating dtype of the tensors that are given, where there is one."""
    found = {
        value.dtype
        for sample in samples
        for value in sample
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    return tuple(found) if len(found) == 1 else ()


def described(value: Any, swept: tuple[torch.dtype, ...]) -> Any:
    """An argument of a sample; a tensor by its values, fixed to its dtype unless that is the one swept."""
    if isinstance(value, list | tuple):
        return [described(part, swept) for part in value]
    if not isinstance(value, torch.Tensor):
        return value
    given: TensorArgument = values(value.detach().cpu().flatten().tolist(), shape=tuple(value.shape))
    return given if (value.dtype,) == swept else given.of(value.dtype)


def default_checks(*, declared: bool) -> list[str]:
    """All that take no compiler; which dtypes are refused is asked only where the accepted ones were told."""
    every = [*_engine.native_checks(), *load_checks()]
    return [
        name
        for name in every
        if name.partition(".")[0] not in COMPILING and (declared or name != "value.dtype")
    ]


def run(written: OpSpec, checks: list[str]) -> list[str]:
    """The findings of these checks, one text each; of several alike in a check, the first."""
    references = {written.name: written.reference_function} if written.reference_function else {}
    _engine.load([], json.dumps([written.as_json()]), references)
    in_python = load_checks()
    described_checks = json.dumps([each.as_json() for each in in_python.values()])
    packages = PackageStore(Path(), [], [])
    findings: dict[str, str] = {}
    judged = False
    reason = "no check applies"
    for call_id, names in _engine.plan(described_checks, checks, written.name):
        for name, judgement in judge_call(Call(call_id, packages), names, in_python)[0].items():
            if judgement["verdict"] == "owed":
                reason = judgement["reason"]
                continue
            judged = True
            if judgement["verdict"] != "pass":
                findings.setdefault(name, finding_text(f"{call_id}/{name}", judgement))
    if not judged:
        raise ValueError(f"opgate.check: nothing could be checked: {reason}")
    return list(findings.values())
