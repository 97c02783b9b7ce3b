"""What operators are registered with, where Python modules register operators and kernels, too."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Collection, Iterable
from typing import Any

import torch
from torch._library.custom_ops import CustomOpDef, _maybe_get_opdef
from torch._library.utils import can_generate_trivial_fake_impl

from opgate import _engine

# torch.library.define(NAME, SCHEMA) registers from this file of torch, whoever calls it.
DEFINED_BY_NAME = torch.library.__file__


def registered(others: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What spec/registration.h says of each operator with a spec and of `others`, by name."""
    registrations = _engine.registrations(list(others))
    for name, registration in registrations.items():
        if custom_op := _maybe_get_opdef(name):
            unwritten = unwritten_kernels(custom_op)
            registration["kernels"] = [key for key in registration["kernels"] if key not in unwritten]
            registration["fake"] = "Meta" not in unwritten
    return registrations


def unwritten_kernels(custom_op: CustomOpDef) -> set[str]:
    """The dispatch keys of kernels that torch registers for each custom_op, without a function of its author.

    Such a kernel calls what `register_fake` or `register_autograd` was given, and raises without it.
    """
    keys = set()
    if custom_op._abstract_fn is None and not can_generate_trivial_fake_impl(custom_op._opoverload):
        keys.add("Meta")
    if custom_op._backward_fn is None:
        keys.add("Autograd")
    return keys


def all_operators() -> set[str]:
    """The names of all operators of this process: "namespace::op" or "namespace::op.overload"."""
    return set(torch._C._dispatch_get_all_op_names())


def defined_in(files: Collection[str], operators: Iterable[str], namespaces: Collection[str]) -> list[str]:
    """Those of `operators` that these Python files define, sorted.

    Modules import others, such as parts of torch, which define operators of their own. Where PyTorch does
    not keep the file that defines an operator, it counts if it is in one of the `namespaces`.
    """
    defined = []
    for name in operators:
        file = defining_file(name)
        if file in files or (file is None and name.partition("::")[0] in namespaces):
            defined.append(name)
    return sorted(defined)


def defining_file(name: str) -> str | None:
    """The Python file that defines the operator; None if it is unknown, "" if there is no schema."""
    if custom_op := _maybe_get_opdef(name):
        module = sys.modules.get(inspect.unwrap(custom_op._init_fn).__module__)
        return getattr(module, "__file__", None)
    registered_at = re.search(
        r"^schema: (?!\(none\)).*\ndebug: registered at (.*):\d+$", torch._C._dispatch_dump(name), re.M
    )
    if registered_at is None:
        return ""
    file = registered_at[1]
    return file if file.endswith(".py") and file != DEFINED_BY_NAME else None
