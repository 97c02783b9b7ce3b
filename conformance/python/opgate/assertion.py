"""opgate.check: checks an operator inside an existing test, without a spec of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.accuracy import Accuracy, ulps
from opgate.call import Call, keyword_names, overload_of, split_keywords
from opgate.call_arguments import calls_of, is_sequence
from opgate.domains import TensorArgument, values
from opgate.judging import judge_call
from opgate.names import name_of
from opgate.package import PackageStore
from opgate.registry import load_checks
from opgate.spec import OpSpec, caller

COMPILING = ("aoti", "compile")  # groups of checks that run a compiler, which takes seconds for each
ITSELF = ulps(16).scaled_by_inputs().of_input_dtype()


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

    `op` is `torch.ops.ns.op` (or one of its overloads), what `torch.library.custom_op` returned, or
    "ns::op.overload". `args` and `kwargs` are the arguments of one call, as `torch.library.opcheck` takes
    them. Instead, `args` may be a list of samples, each with the arguments of one call in schema order.
    Arguments are tensors, or `opgate.uniform(...)` and the like. Tensors keep their dtype, and no other is
    tried. Generated tensors take each of `dtypes` in turn (float32 where none are given). Where `dtypes` are
    given, the operator must refuse any other dtype. Where a tensor requires a gradient, derivatives are
    checked, too.

    `reference` and `accuracy` are those of a spec. Without a reference, the operator itself in double takes
    its place, which checks the rounding but not the formula; if it does not take double, there is none.
    `checks` are ids; by default, all checks run
    except those that compile. Raises ValueError if there is nothing to check, TypeError for an `op` or an
    argument of another type and for arguments that do not fit the schema, and RuntimeError for an `op`
    that does not exist.
    """
    name = operator_name(op)
    _engine.schema(name)  # raises RuntimeError if there is no such operator
    if is_sequence(args) and len(args) == 0 and not kwargs:
        raise ValueError("opgate.check: there are no samples, so nothing would be checked")
    try:
        samples = calls_of(overload_of(name), args, kwargs)
    except TypeError as error:
        raise TypeError(f"opgate.check: {error}") from None
    written = OpSpec(name, caller())
    tried = tuple(dtypes) or dtypes_of(samples) or (torch.float32,)
    written.dtypes(*tried, device="cpu")
    if reference is not None or takes_double(name, samples):
        written.reference(name if reference is None else reference)
        written.accuracy(accuracy or ITSELF)
    else:
        written.draft()
    written.promises(*promises)
    if any(tensor.requires_grad for tensor in tensors_of(samples)):
        written.promises("differentiable")
    for number, sample in enumerate(samples):
        written.sample(*(described(value, tried) for value in sample), named=f"sample {number}")
    findings = run(written, list(checks) or default_checks(declared=bool(dtypes)))
    if findings:
        raise AssertionError(f"{len(findings)} findings for {name}\n\n" + "\n\n".join(findings))


def takes_double(name: str, samples: Sequence[Sequence[Any]]) -> bool:
    """Whether the operator can be its own reference: it returns something for each sample in double."""

    def widened(value: Any) -> Any:
        if is_sequence(value):
            return [widened(part) for part in value]
        if not isinstance(value, torch.Tensor):
            return value
        copy = value.detach().cpu().clone()
        return copy.double() if copy.is_floating_point() else copy

    overload = overload_of(name)
    for sample in samples:
        if any(isinstance(part, TensorArgument) for value in sample for part in parts_of(value)):
            continue  # the engine makes its values later
        positional, keywords = split_keywords([widened(value) for value in sample], keyword_names(overload))
        try:
            with torch.no_grad():
                overload(*positional, **keywords)
        except Exception:  # an operator may refuse double with any exception
            return False
    return True


def operator_name(op: Any) -> str:
    """The name of the operator, as specs write it. Raises ValueError or TypeError if there is none."""
    if isinstance(op, str):
        return op
    op = getattr(op, "_opoverload", op)  # of the object that torch.library.custom_op returns
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
    """The floating dtype of the tensors in the samples, if all of them have the same one."""
    found = {tensor.dtype for tensor in tensors_of(samples) if tensor.is_floating_point()}
    return tuple(found) if len(found) == 1 else ()


def tensors_of(samples: Sequence[Sequence[Any]]) -> Iterator[torch.Tensor]:
    """The tensors in the samples, also those in lists."""
    for sample in samples:
        for value in sample:
            for part in parts_of(value):
                if isinstance(part, torch.Tensor):
                    yield part


def parts_of(value: Any) -> Sequence[Any]:
    """The elements of a list, or the value alone."""
    return value if is_sequence(value) else [value]


def described(value: Any, tried: tuple[torch.dtype, ...]) -> Any:
    """An argument of a sample. A tensor becomes its values; its dtype is fixed unless only it is `tried`."""
    if isinstance(value, list | tuple):
        return [described(part, tried) for part in value]
    if not isinstance(value, torch.Tensor):
        return value
    given: TensorArgument = values(value.detach().cpu().flatten().tolist(), shape=tuple(value.shape))
    return given if (value.dtype,) == tried else given.of(value.dtype)


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
        for name, judgement in judge_call(Call(call_id, packages), names, in_python)[0].items():
            if judgement["verdict"] == "owed":
                reason = judgement["reason"]
                continue
            judged = True
            if judgement["verdict"] != "pass":
                findings.setdefault(name, _engine.finding_text(f"{call_id}/{name}", json.dumps(judgement)))
    if not judged:
        raise ValueError(f"opgate.check: nothing could be checked: {reason}")
    return list(findings.values())
