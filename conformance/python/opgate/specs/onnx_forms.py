"""How operators become ONNX: the forms that a library offers. The module that has them registers them here.

opgate.onnx(AS_STANDARD_OPERATORS, standard=True)
opgate.onnx("my_ops.onnx:AS_CUSTOM_OPERATORS", operators=["my_ops::relu"], standard=False)

Each table is for torch.onnx.export(custom_translation_table=...). A table that is given by name is imported
only when onnx.runs needs it, because onnxscript takes two seconds to import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from opgate.specs.names import name_of

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch

Table = Mapping["torch._ops.OpOverload", Callable[..., Any]]


@dataclass(frozen=True)
class Form:
    """One way to write operators in ONNX."""

    given: Table | str
    operators: frozenset[str]
    """The operators that have this form, by their names in specs."""
    standard: bool
    """True for standard ONNX operators, which every runtime can run; False for nodes of a custom domain."""

    @cached_property
    def table(self) -> Table:
        """The translation table for torch.onnx.export.

        Raises ImportError or AttributeError if it cannot be imported, and ValueError where it lacks an
        operator.
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

    `table` is the table itself, or "module:NAME" together with the `operators` that it has. Raises ValueError
    for a name without `operators`.
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
    """The operators that have a form, by their names in specs."""
    return sorted({name for form in FORMS for name in form.operators})


def modules() -> list[str]:
    """The modules of the tables that are given by name, which may not be imported yet."""
    return sorted({form.given.partition(":")[0] for form in FORMS if isinstance(form.given, str)})
