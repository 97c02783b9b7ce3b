"""Writes Python modules with all mutants behind switches, and kernels in Triton with one mutant each."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opgate.mutation.mutant import Mutant
from opgate.mutation.python_change import PythonChange
from opgate.mutation.python_kinds import EVERYWHERE, is_long
from opgate.mutation.python_kinds_of_operators import FOR_OPERATORS
from opgate.mutation.python_syntax import Site, Text, first_line, sites
from opgate.mutation.splicing import Wrapped, spliced
from opgate.mutation.triton_kinds import FOR_KERNELS, is_axis, is_other, of_tail

ENDING = ".py"


@dataclass
class PythonSource:
    """A module, and the changes that can be made to it."""

    file: str
    text: Text
    changes: list[PythonChange]


def python_source_of(root: Path, file: str) -> PythonSource:
    """Reads a module, whose path is relative to `root`, and finds its changes. Raises SyntaxError."""
    text = Text((root / file).read_bytes())
    tree = ast.parse(text.content, filename=file)
    changes = [change for site in sites(tree, text) for change in _changes_of(site)]
    return PythonSource(file, text, changes)


def python_numbered(source: PythonSource, first: int) -> list[Mutant]:
    """The changes of a module as mutants with consecutive numbers."""
    return [
        Mutant(
            first + index,
            change.kind,
            source.file,
            change.part.lineno,
            change.part.col_offset + 1,
            change.site.function,
            source.text.of(change.part),
            change.mutated,
        )
        for index, change in enumerate(source.changes)
    ]


def python_instrumented(source: PythonSource, mutants: Sequence[Mutant], chosen: Iterable[int]) -> bytes:
    """The module with the mutants of these numbers behind switches; its lines keep their numbers.

    Functions that Triton compiles stay as they are: `kernels` has their mutants.
    """
    numbers = set(chosen)
    wrapped = [
        Wrapped(
            source.text.begin(change.part),
            source.text.end(change.part),
            _with_number(change.before, mutant.number),
            _with_number(change.after, mutant.number),
        )
        for change, mutant in zip(source.changes, mutants, strict=True)
        if mutant.number in numbers and change.site.kernel is None
    ]
    return spliced(source.text.content, wrapped)


def kernels(source: PythonSource, mutants: Sequence[Mutant], chosen: Iterable[int]) -> list[dict[str, Any]]:
    """The functions that Triton compiles: their first lines, and their code in each of these mutants."""
    numbers = set(chosen)
    by_line: dict[int, dict[int, str]] = {}
    for change, mutant in zip(source.changes, mutants, strict=True):
        if mutant.number in numbers and (kernel := change.site.kernel) is not None:
            by_line.setdefault(first_line(kernel), {})[mutant.number] = _compiled(source.text, kernel, change)
    return [{"line": line, "mutants": of_line} for line, of_line in sorted(by_line.items())]


def _changes_of(site: Site) -> Iterator[PythonChange]:
    if is_long(site):
        return
    has_a_kind_of_its_own = is_axis(site) or is_other(site)
    kinds = [*EVERYWHERE, of_tail]
    kinds += FOR_KERNELS if site.kernel is not None else FOR_OPERATORS
    for kind in kinds:
        yield from (change for change in kind(site) if change.kind != "constant" or not has_a_kind_of_its_own)


def _compiled(text: Text, kernel: ast.FunctionDef, change: PythonChange) -> str:
    """The function as Triton reads it, without decorators and indentation, with this change."""
    begin = text.begins[kernel.lineno - 1]
    before = text.between(begin, text.begin(change.part))
    code = before + change.replaced + text.between(text.end(change.part), text.end(kernel))
    return textwrap.dedent(code) + "\n"


def _with_number(code: str, number: int) -> str:
    return code.replace("OPGATE_CHOSEN", f"_opgate_is({number})").replace("OPGATE_NUMBER", str(number))
