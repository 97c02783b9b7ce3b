"""What operators are registered with, where Python modules register kernels, too."""

from __future__ import annotations

from torch._library.custom_ops import CustomOpDef, _maybe_get_opdef
from torch._library.utils import can_generate_trivial_fake_impl

from opgate import _engine


def registered() -> dict[str, dict[str, list[str]]]:
    """The kernels and tags of each loaded operator, by name, as in spec/registration.h."""
    registrations = _engine.registrations()
    for name, registration in registrations.items():
        if custom_op := _maybe_get_opdef(name):
            unwritten = unwritten_kernels(custom_op)
            registration["kernels"] = [key for key in registration["kernels"] if key not in unwritten]
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
