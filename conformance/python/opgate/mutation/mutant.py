"""A mutant: a small change to a source which a good spec notices."""

from __future__ import annotations

from dataclasses import asdict, dataclass
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
class Change:
    """What a mutant does to a part of a source.

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

    @staticmethod
    def of(change: Change, number: int, file: str) -> Mutant:
        """The change of a file, by its number."""
        place = change.place
        return Mutant(
            number,
            change.kind,
            file,
            place.line,
            place.column,
            place.function,
            change.original,
            change.mutated,
        )

    def as_json(self) -> dict[str, Any]:
        """The fields by their names."""
        return asdict(self)
