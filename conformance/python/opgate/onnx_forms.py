"""How operators become ONNX: the forms that a library offers, told to OpGate by the module that has them.

opgate.onnx(AS_STANDARD_OPERATORS, standard=True)
opgate.onnx(AS_CUSTOM_OPERATORS, standard=False)

Each table is one for torch.onnx.export(custom_translation_table=...).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opgate.names import name_of

if TYPE_CHECKING:  # a worker whose interpreter lacks torch must live to say so
    import torch

Table = Mapping["torch._ops.OpOverload", Callable[..., Any]]


@dataclass(frozen=True)
class Form:
    """One way to write operators in ONNX."""

    table: Table
    standard: bool
    """Standard operators only, so that every runtime can run it; otherwise nodes of a domain of its own."""


FORMS: list[Form] = []


def onnx(table: Table, *, standard: bool) -> None:
    """Registers a form: onnx.runs is planned for the operators in `table`."""
    FORMS.append(Form(table, standard))


def operators() -> list[str]:
    """Those that have a form, as specs name them."""
    return sorted({name_of(overload) for form in FORMS for overload in form.table})
