"""The names of operators, as specs write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch


def name_of(overload: torch._ops.OpOverload) -> str:
    """ "namespace::op" or "namespace::op.overload"."""
    schema = overload._schema
    return schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
