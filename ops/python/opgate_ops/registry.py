"""A registry of Python operators that really registers: what is in it is in PyTorch's dispatcher, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.library import CustomOpDef

NAMESPACE = "opgate_py"
"""The namespace of the operators written in Python: ``torch.ops.opgate_py.*``."""

OPERATORS: dict[str, CustomOpDef] = {}
"""Every operator that `register` made, by its name without the namespace."""


def register(
    *,
    mutates_args: Iterable[str] = (),
    fake: Callable[..., Any],
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., None] | None = None,
    device_types: str | None = None,
) -> Callable[[Callable[..., Any]], CustomOpDef]:
    """Makes the decorated function the operator ``opgate_py::<its name>``; its schema follows from its types.

    `mutates_args` names every argument that the function writes to. `fake` returns the result's metadata
    without data, and refuses what the function refuses. `backward` and `setup_context` are those of
    ``torch.library.register_autograd``. With `device_types` ("cpu"), tensors on other devices are refused.

    Raises ValueError if the name is taken, or if only one of `backward` and `setup_context` is given.
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        name = function.__name__
        if name in OPERATORS:
            raise ValueError(f"{NAMESPACE}::{name} is registered already; give this function another name")
        if (backward is None) != (setup_context is None):
            raise ValueError(f"{NAMESPACE}::{name}: backward and setup_context belong together; give both")
        operator = torch.library.custom_op(
            f"{NAMESPACE}::{name}", function, mutates_args=tuple(mutates_args), device_types=device_types
        )
        operator.register_fake(fake)
        if backward is not None:
            operator.register_autograd(backward, setup_context=setup_context)
        operator.__doc__ = function.__doc__
        OPERATORS[name] = operator
        return operator

    return make
