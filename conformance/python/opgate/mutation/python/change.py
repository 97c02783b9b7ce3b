"""What a mutant does to a node of the syntax tree of a Python source."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from opgate.mutation.mutant import Mutant, Place
from opgate.mutation.python.syntax import Site


@dataclass(frozen=True)
class PythonMutant(Mutant):
    """A mutant of a module."""

    replaced: str = ""
    """What Triton compiles instead of the part, in a function that it compiles."""
    kernel: ast.FunctionDef | None = None
    """That function."""


def change(site: Site, kind: str, before: str, after: str, replaced: str, mutated: str) -> PythonMutant:
    """The part with code before and after it, or, for Triton, `replaced`. The author reads `mutated`."""
    part = site.node
    assert isinstance(part, ast.expr | ast.stmt)
    begin, end = site.text.begin(part), site.text.end(part)
    place = Place(part.lineno, part.col_offset + 1, begin, end, site.function)
    original = site.text.of(part)
    return PythonMutant(kind, place, original, mutated, before, after, replaced=replaced, kernel=site.kernel)


def instead(site: Site, kind: str, code: str, mutated: str | None = None) -> PythonMutant:
    """Another expression instead of this one. The author reads `mutated`, or else the code."""
    shown = code if mutated is None else mutated
    return change(site, kind, f"(({code}) if OPGATE_CHOSEN else (", "))", f"({code})", shown)


def left_out(site: Site, kind: str) -> PythonMutant:
    """The statement is missing."""
    return change(site, kind, "if not OPGATE_CHOSEN: ", "", "pass", "")


def compiled_instead(site: Site, kind: str, code: str, mutated: str | None = None) -> PythonMutant:
    """Another statement instead of this one, for functions that Triton compiles."""
    assert site.kernel is not None
    return change(site, kind, "", "", code, code if mutated is None else mutated)
