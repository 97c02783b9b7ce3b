"""A mutant: a small change to a source which a good spec notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """A part of a source: `line` and `column` count from 1, `begin` and `end` are offsets in bytes."""

    line: int
    column: int
    begin: int
    end: int
    function: str


@dataclass(frozen=True)
class Mutant:
    """What is done to a part of a source, and its number in one build.

    If a switch turns it on, the changed source is `before + PART + after`. In these texts, OPGATE_CHOSEN
    stands for an expression that is true while this mutant is the chosen one, and OPGATE_NUMBER for its
    number.
    """

    kind: str
    place: Place
    original: str
    mutated: str
    """What the author reads: the part in the mutant."""
    before: str = ""
    after: str = ""
    number: int = 0
    file: str = ""
    """Relative to the project."""

    def as_json(self) -> dict[str, Any]:
        """What the program shows of it."""
        own = {name: getattr(self, name) for name in ("number", "kind", "file", "original", "mutated")}
        return own | {name: getattr(self.place, name) for name in ("line", "column", "function")}
