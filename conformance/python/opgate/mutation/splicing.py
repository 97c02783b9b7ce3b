"""Puts code before and after parts of a source, which may contain each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Wrapped:
    """A part of a source, and what comes before and after it."""

    begin: int
    end: int
    before: str
    after: str


def spliced(content: bytes, wrapped: Iterable[Wrapped]) -> bytes:
    """The content with all of these, of which no two overlap without one containing the other.

    Among several for the same part, the first one is the outermost.
    """
    begins: dict[int, list[tuple[int, str]]] = {}
    ends: dict[int, list[tuple[int, str]]] = {}
    for each in wrapped:
        length = each.end - each.begin
        begins.setdefault(each.begin, []).append((-length, each.before))
        ends.setdefault(each.end, []).append((length, each.after))
    pieces: list[bytes] = []
    at = 0
    for place in sorted(begins.keys() | ends.keys()):
        pieces.append(content[at:place])
        at = place
        # Among parts with one end, the innermost ends first; among those with one start, the outermost
        # begins first; and among several for one part, the last one to begin is the first one to end.
        pieces += [
            after.encode() for _, after in sorted(reversed(ends.get(place, [])), key=lambda entry: entry[0])
        ]
        pieces += [before.encode() for _, before in sorted(begins.get(place, []), key=lambda entry: entry[0])]
    pieces.append(content[at:])
    return b"".join(pieces)
