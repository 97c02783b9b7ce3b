"""Writes sources in which each mutant is behind a switch, so that one build has all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from opgate.mutation.hints import Hints
from opgate.mutation.kinds import EVERYWHERE
from opgate.mutation.kinds_of_operators import FOR_OPERATORS
from opgate.mutation.mutant import Change, Mutant
from opgate.mutation.splicing import Wrapped, spliced
from opgate.mutation.syntax import function_around, not_understood, parsed, run_time_nodes, text

if TYPE_CHECKING:
    from tree_sitter import Node

ENDINGS = (".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp", ".cuh")
HEADER = Path(__file__).with_name("mutants.h")
HEADER_NAME = "opgate_mutants.h"


@dataclass
class Source:
    """A source, and the changes that can be made to it."""

    file: str
    content: bytes
    changes: list[Change]
    #: Lines that are no C++ before the preprocessor has run, so that they have no mutants.
    not_understood: list[int] = field(default_factory=list)


def source_of(root: Path, file: str) -> Source:
    """Reads a source, whose path is relative to `root`, and finds its changes."""
    content = (root / file).read_bytes()
    root_node = parsed(content).root_node
    lines = sorted({node.start_point.row + 1 for node in not_understood(root_node)})
    return Source(file, content, list(changes_in(root_node)), lines)


def changes_in(root_node: Node) -> Iterator[Change]:
    """The changes of a source, in the order of its nodes."""
    for node in run_time_nodes(root_node, Hints(root_node).has):
        for kind in (*EVERYWHERE, *FOR_OPERATORS):
            yield from (change for change in kind(node) if _fits_in_a_line(change))


def numbered(source: Source, first: int) -> list[Mutant]:
    """The changes of a source as mutants with consecutive numbers."""
    return [
        Mutant(
            first + index,
            change.kind,
            source.file,
            change.node.start_point.row + 1,
            change.node.start_point.column + 1,
            function_around(change.node),
            text(change.node),
            change.mutated,
        )
        for index, change in enumerate(source.changes)
    ]


def instrumented(source: Source, mutants: Sequence[Mutant], chosen: Iterable[int]) -> bytes:
    """The source with the mutants of these numbers behind switches; its lines keep their numbers."""
    numbers = set(chosen)
    pairs = [
        (change, mutant)
        for change, mutant in zip(source.changes, mutants, strict=True)
        if mutant.number in numbers
    ]
    if not pairs:
        return source.content
    wrapped = [
        Wrapped(
            change.node.start_byte,
            change.node.end_byte,
            _numbered(change.before, mutant.number),
            _numbered(change.after, mutant.number),
        )
        for change, mutant in pairs
    ]
    return f'#include "{HEADER_NAME}"\n#line 1\n'.encode() + spliced(source.content, wrapped)


def _fits_in_a_line(change: Change) -> bool:
    """Lines keep their numbers, so the mutant's code stands in one; a comment in it would hide the rest."""
    return "//" not in change.before + change.after


def _numbered(code: str, number: int) -> str:
    one_line = " ".join(code.split("\n"))
    return one_line.replace("OPGATE_CHOSEN", f"opgate_mutants::is({number})").replace(
        "OPGATE_NUMBER", str(number)
    )
