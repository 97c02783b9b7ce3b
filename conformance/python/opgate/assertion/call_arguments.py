"""The calls that `opgate.check` is given: the arguments of one call, as for opcheck, or samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from opgate.specs.domains import GeneratorArgument, TensorArgument

# What a value of a schema's type may be, by the name of the type.
NUMBERS: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "SymInt": (int,),
    "float": (int, float),
    "number": (int, float, complex),
    "Scalar": (int, float, complex),
    "complex": (int, float, complex),
    "str": (str,),
}


def calls_of(
    overload: torch._ops.OpOverload, args: Any, kwargs: Mapping[str, Any] | None
) -> list[Sequence[Any]]:
    """The calls that are meant, each with its arguments in schema order.

    `args` has the arguments of one call, or one such sequence for each call. Which of them is meant follows
    from the schema. Raises TypeError, in one line that shows the right form, for what fits neither way.
    """
    schema = overload._schema
    if not is_sequence(args):
        raise TypeError(f"{said(args)} is neither the arguments of a call nor samples; {forms(schema)}")
    if kwargs is not None:
        return [with_keywords(schema, args, kwargs)]
    if len(args) > 0 and all(is_sequence(sample) for sample in args):
        misfits = [why for sample in args if (why := misfit(schema, sample))]
        if misfits and misfit(schema, args):
            raise TypeError(f"{misfits[0]}; {forms(schema)}")
        return [args] if misfits else list(args)
    if why := misfit(schema, args):
        raise TypeError(f"{why}; {forms(schema)}")
    return [args]


def with_keywords(schema: torch.FunctionSchema, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arguments in schema order, with the schema's defaults where one after them is named."""
    given = list(args)
    names = [formal.name for formal in schema.arguments]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"{schema.name} has no argument `{name}`; {forms(schema)}")
        if name in names[: len(given)]:
            raise TypeError(f"`{name}` is given twice, by position and by name; {forms(schema)}")
    last = max((names.index(name) for name in kwargs), default=-1)
    for formal in schema.arguments[len(given) : last + 1]:
        if formal.name not in kwargs and not formal.has_default_value():
            raise TypeError(f"the argument `{formal.name}` is missing; {forms(schema)}")
        given.append(kwargs.get(formal.name, formal.default_value))
    if why := misfit(schema, given):
        raise TypeError(f"{why}; {forms(schema)}")
    return given


def misfit(schema: torch.FunctionSchema, given: Sequence[Any]) -> str:
    """Why these values, in schema order, are no arguments of the operator; empty if they are."""
    formals = schema.arguments
    if len(given) > len(formals):
        return f"{len(given)} arguments are given, and {schema.name} takes {len(formals)}"
    for formal, value in zip(formals, given, strict=False):
        if not fits(value, formal.type):
            return f"`{formal.name}` is a {formal.type} in the schema, and {said(value)} is given"
    for formal in formals[len(given) :]:
        if not formal.has_default_value():
            return f"the argument `{formal.name}` is missing"
    return ""


def fits(value: Any, declared: Any) -> bool:
    """Whether a schema's type takes the value. Types without a rule here take all but tensors and lists."""
    kind = declared.kind()
    if kind == "OptionalType":
        return value is None or fits(value, declared.getElementType())
    if kind == "ListType":
        return is_sequence(value) and all(fits(part, declared.getElementType()) for part in value)
    is_tensor = isinstance(value, torch.Tensor | TensorArgument)
    if kind == "TensorType":
        return is_tensor
    if kind == "AnyType":
        return True
    if (takes := NUMBERS.get(str(declared))) is not None:
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return bool in takes or int in takes  # a schema says int where Python code gives one of these
        return isinstance(value, takes)
    if kind == "GeneratorType":
        return value is None or isinstance(value, GeneratorArgument | torch.Generator)
    return not is_tensor and not is_sequence(value)


def is_sequence(value: Any) -> bool:
    """Whether the value is a list or a tuple, or another sequence that is no text."""
    return isinstance(value, Sequence) and not isinstance(value, str | TensorArgument | GeneratorArgument)


def said(value: Any) -> str:
    """The value in a few words."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if is_sequence(value):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"


def forms(schema: torch.FunctionSchema) -> str:
    """The two ways to call opgate.check for this operator."""
    names = ", ".join(formal.name for formal in schema.arguments)
    comma = "," if len(schema.arguments) == 1 else ""
    return (
        f"write opgate.check(op, ({names}{comma})) for one call, as for torch.library.opcheck, "
        f"or opgate.check(op, [({names}{comma}), ...]) for several"
    )
