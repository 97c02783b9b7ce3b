"""How operators become ONNX: the forms that a library offers, told to OpGate by the module that has them.

opgate.onnx(AS_STANDARD_OPERATORS, standard=True)
opgate.onnx("my_ops.onnx:AS_CUSTOM_OPERATORS", operators=["my_ops::relu"], standard=False)

Each table is one for torch.onnx.export(custom_translation_table=...). One that is named is imported when
onnx.runs needs it: onnxscript costs a process two seconds.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from opgate.names import name_of

if TYPE_CHECKING:  # a worker whose interpreter lacks torch must live to say so
    import torch

Table = Mapping["torch._ops.OpOverload", Callable[..., Any]]


@dataclass(frozen=True)
class Form:
    """One way to write operators in ONNX."""

    given: Table | str
    operators: frozenset[str]
    """Those that have it, as specs name them."""
    standard: bool
    """Standard operators only, so that every runtime can run it; otherwise nodes of a domain of its own."""

    @cached_property
    def table(self) -> Table:
        """For torch.onnx.export.

        Raises ImportError, AttributeError, and ValueError where it lacks an operator.
        """
        if not isinstance(self.given, str):
            return self.given
        module, _, name = self.given.partition(":")
        table: Table = getattr(importlib.import_module(module), name)
        if missing := self.operators - {name_of(overload) for overload in table}:
            raise ValueError(f"{self.given} has nothing for {', '.join(sorted(missing))}")
        return table


FORMS: list[Form] = []


def onnx(table: Table | str, *, standard: bool, operators: Sequence[str] | None = None) -> None:
    """Registers a form: onnx.runs is planned for the operators in `table`.

    A table is given itself, or by "module:NAME" with the `operators` that it has. Raises ValueError.
    """
    if isinstance(table, str):
        if operators is None or not all(table.partition(":")):
            raise ValueError(
                'a table that is named is "module:NAME", and `operators` says what it has: '
                'opgate.onnx("my_ops.onnx:TABLE", operators=["my_ops::relu"], standard=True)'
            )
        FORMS.append(Form(table, frozenset(operators), standard))
    else:
        FORMS.append(Form(table, frozenset(name_of(overload) for overload in table), standard))


def operators() -> list[str]:
    """Those that have a form, as specs name them."""
    return sorted({name for form in FORMS for name in form.operators})


def modules() -> list[str]:
    """Those of the tables that are named, which may not be imported yet."""
    return sorted({form.given.partition(":")[0] for form in FORMS if isinstance(form.given, str)})
