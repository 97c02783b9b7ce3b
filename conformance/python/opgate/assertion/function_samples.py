"""Functions that opgate.check is given: their schema is what a call of each sample shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from opgate import _engine
from opgate.assertion.call_arguments import calls_of, is_sequence
from opgate.assertion.given_tensors import described, parts_of
from opgate.calls.call import keyword_names, overload_of, split_keywords
from opgate.functions.registered import registered
from opgate.recording.function_recorder.facts import Facts, contents, has_tensor, type_of
from opgate.recording.function_recorder.signature import NotDescribed, Signature
from opgate.specs.domains import TensorArgument
from opgate.specs.names import name_of_function
from opgate.specs.spec import OpSpec, caller

GivenCall = tuple[Sequence[Any], Mapping[str, Any]]


@contextmanager
def operator_for(
    function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any] | None, dtype: torch.dtype
) -> Iterator[str]:
    """The name under which the function is an operator in this block.

    Calls the function once with the arguments of each sample, of which those that are generated have this
    dtype. Raises TypeError for arguments that the function does not take, or that no sample can hold, for a
    call without a tensor, and for results that are neither tensors nor numbers; and whatever the function
    raises.
    """
    facts = Facts(name_of_function(function), Signature.of(function))
    for number, call in enumerate(given_calls(facts.signature, args, kwargs)):
        add_types(facts, call, f"call {number}")

    def observed(*arguments: Any, **keywords: Any) -> None:
        given = facts.signature.given(arguments, keywords)
        before = contents(given)
        result = function(*arguments, **keywords)
        try:
            facts.look(given, before, result)
        except NotDescribed as error:
            raise refused(
                f"there are calls of {facts.name} {error}, and results must be tensors or numbers"
            ) from error

    facts.returns = []  # until the calls have returned
    with registered(facts.name, *schema_of(facts), observed), torch.no_grad():
        overload = overload_of(facts.name)
        for arguments in made(facts.name, calls_of(overload, args, kwargs), dtype):
            positional, keywords = split_keywords(arguments, keyword_names(overload))
            overload(*positional, **keywords)
    with registered(facts.name, *schema_of(facts), function):
        yield facts.name


def refused(why: object) -> TypeError:
    """The error for a call of `opgate.check` that cannot be what was meant."""
    return TypeError(f"opgate.check: {why}")


def schema_of(facts: Facts) -> tuple[str, frozenset[str]]:
    """The schema, and the names of the arguments that are tuples. Raises TypeError."""
    try:
        schema, tuples = _engine.function_schema(json.dumps(facts.line()))
    except RuntimeError as error:
        raise refused(error) from error
    return schema, frozenset(tuples)


def given_calls(signature: Signature, args: Any, kwargs: Mapping[str, Any] | None) -> list[GivenCall]:
    """The calls that are meant: one, or one for each sample if `args` is a list of sequences.

    If it could be both, a list has samples, and a tuple has the arguments of one call.
    """
    if not is_sequence(args):
        raise refused(f"a {type(args).__name__} is neither the arguments of a call nor samples")
    are_samples = kwargs is None and len(args) > 0 and all(is_sequence(one) for one in args)
    are_samples = are_samples and all(takes(signature, one) for one in args)
    if are_samples and (isinstance(args, list) or not takes(signature, args)):
        return [(one, {}) for one in args]
    return [(args, kwargs or {})]


def takes(signature: Signature, arguments: Sequence[Any]) -> bool:
    """Whether the function can be called with so many arguments."""
    try:
        given = signature.given(tuple(arguments), {})
    except (NotDescribed, TypeError):
        return False
    return signature.documented is None or len(given) <= len(signature.documented)


def add_types(facts: Facts, call: GivenCall, label: str) -> None:
    """Notes the types of one call's arguments. Raises TypeError."""
    try:
        given = facts.signature.given(tuple(call[0]), dict(call[1]))
        given = {name: (stand_in(value), by_keyword) for name, (value, by_keyword) in given.items()}
        types = tuple((name, type_of(value)) for name, (value, _) in given.items())
    except NotDescribed as error:
        raise refused(f"{facts.name} gets {error}, which no sample can hold") from error
    except TypeError as error:
        raise refused(f"{facts.name}: {error}") from error
    if not any(has_tensor(value) for value, _ in given.values()):
        raise refused(f"{facts.name} gets no tensor, so that there is nothing to vary")
    facts.add_version(types, given, label)


def stand_in(value: Any) -> Any:
    """The value with a tensor in place of each one that is generated later."""
    if isinstance(value, list | tuple):
        return type(value)([stand_in(part) for part in value])
    return torch.empty(0) if isinstance(value, TensorArgument) else value


def made(name: str, samples: list[Sequence[Any]], dtype: torch.dtype) -> Iterator[list[Any]]:
    """The arguments of each sample in schema order: copies, or what the engine generates."""
    for sample in samples:
        if not any(isinstance(part, TensorArgument) for value in sample for part in parts_of(value)):
            yield [copied(value) for value in sample]
            continue
        written = OpSpec(name, caller()).dtypes(dtype, device="cpu").draft()
        written.sample(*(described(value, (dtype,)) for value in sample), named="generated")
        _engine.load([], json.dumps([written.as_json()]), {})
        yield _engine.arguments(f"{name}/{str(dtype).partition('.')[2]}/generated/contiguous/cpu")


def copied(value: Any) -> Any:
    """The value, of tensors a copy, which the call may write to."""
    if is_sequence(value):
        return [copied(part) for part in value]
    return value.detach().clone() if isinstance(value, torch.Tensor) else value
