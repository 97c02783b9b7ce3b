"""The names of operators and functions, as specs write them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from opgate.modules.kernel_folders import stable_name

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch


def name_of(overload: torch._ops.OpOverload) -> str:
    """ "namespace::op" or "namespace::op.overload"."""
    schema = overload._schema
    return stable_name(schema.name) + (f".{schema.overload_name}" if schema.overload_name else "")


def subject_name(op: Any) -> str:
    """The name by which specs and case ids know an operator or a function.

    Raises ValueError for an operator with several overloads, and TypeError for what cannot be called.
    """
    import torch

    if isinstance(op, str):
        return op
    op = getattr(op, "_opoverload", op)  # of the object that torch.library.custom_op returns
    if isinstance(op, torch._ops.OpOverloadPacket):
        if len(op.overloads()) > 1:
            raise ValueError(f"opgate: {op} has several overloads; name one, as {op}.{op.overloads()[0]}")
        op = getattr(op, op.overloads()[0])
    if isinstance(op, torch._ops.OpOverload):
        return name_of(op)
    if not callable(op):
        raise TypeError(f"opgate: {op!r} is neither an operator nor a function")
    return name_of_function(op)


def name_of_function(function: Callable[..., Any]) -> str:
    """ "module:qualname" of a function, an autograd Function, a method, what a partial calls, or a class."""
    import torch

    while isinstance(function, functools.partial):
        function = function.func
    named: Any = function
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
        named = owner  # of its `apply`
    elif not hasattr(function, "__qualname__"):
        named = type(function)  # an object that can be called, such as a torch.nn.Module
    # A function that pybind11 has made belongs to a capsule, by which it is not known.
    qualname = named.__name__ if isinstance(named, types.BuiltinFunctionType) else named.__qualname__
    return f"{stable_name(getattr(named, '__module__', None) or 'unknown')}:{qualname}"
