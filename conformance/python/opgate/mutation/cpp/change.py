"""What a mutant does to a node of the syntax tree of a C++ or CUDA source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opgate.mutation.cpp.syntax import function_around, text
from opgate.mutation.mutant import Mutant, Place

if TYPE_CHECKING:
    from tree_sitter import Node


def change(node: Node, kind: str, before: str, after: str, mutated: str) -> Mutant:
    """The node with code before and after it. The author reads `mutated`."""
    place = Place(
        node.start_point.row + 1,
        node.start_point.column + 1,
        node.start_byte,
        node.end_byte,
        function_around(node),
    )
    return Mutant(kind, place, text(node), mutated, *(" ".join(code.split("\n")) for code in (before, after)))


def instead(node: Node, kind: str, code: str, mutated: str | None = None) -> Mutant:
    """Another expression of the same type. The author reads `mutated`, or else the code."""
    shown = code if mutated is None else mutated
    return change(node, kind, f"(OPGATE_CHOSEN ? ({code}) : (", "))", shown)


def left_out(node: Node, kind: str) -> Mutant:
    """The statement is missing."""
    return change(node, kind, "{ if (!OPGATE_CHOSEN) ", " }", "")
