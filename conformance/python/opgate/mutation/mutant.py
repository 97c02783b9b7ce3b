"""A mutant: a small change to a source which a good spec notices."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class Change:
    """What a mutant does to a node of the syntax tree.

    The changed source is `before + SOURCE OF THE NODE + after`. In these texts, OPGATE_CHOSEN stands for an
    expression that is true while this mutant is the chosen one, and OPGATE_NUMBER for its number.
    """

    node: Node
    kind: str
    before: str
    after: str
    #: What the author reads: the node's source in the mutant.
    mutated: str


@dataclass(frozen=True)
class Mutant:
    """A change with its number in one build."""

    number: int
    kind: str
    file: str
    line: int
    column: int
    function: str
    original: str
    mutated: str

    def as_json(self) -> dict[str, Any]:
        """The fields by their names."""
        return asdict(self)


def instead(node: Node, kind: str, mutated: str) -> Change:
    """A change of an expression into another of the same type."""
    return Change(node, kind, f"(OPGATE_CHOSEN ? ({mutated}) : (", "))", mutated)


def left_out(node: Node, kind: str) -> Change:
    """A change that leaves a statement out."""
    return Change(node, kind, "{ if (!OPGATE_CHOSEN) ", " }", "")
