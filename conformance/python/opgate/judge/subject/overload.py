"""Overloads of torch's own operators as references, and functions that take the place of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from opgate.request import UserError

TRACED_AS = {"aten::sum.SymInt": "aten::sum.dim_IntList"}
"""Names in traces of former versions of torch."""


def overload_named(name: str) -> torch._ops.OpOverload:
    """The overload "aten::add.Tensor". Raises UserError if torch has none of this name."""
    namespace, _, rest = name.partition("::")
    plain, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), plain), overload or "default")
    except (AttributeError, RuntimeError):
        raise UserError(f"torch {torch.__version__} has no operator {name}") from None


def in_place_of(overload: torch._ops.OpOverload, called: Callable[..., Any]) -> Callable[..., Any]:
    """Calls a function as the overload is called: with [POSITIONAL, KEYWORDS].

    If the schema has arguments that are written, these are returned beside the result, so that they are
    compared as well.
    """
    formals = overload._schema.arguments
    written = [i for i, formal in enumerate(formals) if formal.alias_info and formal.alias_info.is_write]

    def call(positional: Sequence[Any], keywords: dict[str, Any]) -> Any:
        result = called(*positional, **keywords)
        if not written:
            return result
        given = dict(enumerate(positional)) | {
            i: keywords[formal.name] for i, formal in enumerate(formals) if formal.name in keywords
        }
        return [result, [given[i] for i in written if i in given]]

    return call


def returns_arguments(name: str) -> bool:
    """Whether its results are arguments that it has written, as those of operators in place are."""
    results = overload_named(name)._schema.returns
    return bool(results) and all(each.alias_info and each.alias_info.is_write for each in results)


def is_random(name: str) -> bool:
    """Whether it draws random numbers."""
    return torch.Tag.nondeterministic_seeded in overload_named(name).tags
