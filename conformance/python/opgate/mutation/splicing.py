"""Puts the code of mutants before and after parts of a source, which may contain each other."""

from __future__ import annotations

from collections.abc import Iterable

from opgate.mutation.mutant import Mutant


def switched(content: bytes, mutants: Iterable[Mutant], switch: str) -> bytes:
    """The source with these mutants, each behind `switch`, an expression that has {} for a number.

    No two of their parts overlap without one containing the other. Among several mutants of the same part,
    the first one is the outermost.
    """
    begins: dict[int, list[tuple[int, str]]] = {}
    ends: dict[int, list[tuple[int, str]]] = {}
    for mutant in mutants:
        number, length = mutant.number, mutant.place.end - mutant.place.begin
        before, after = (
            code.replace("OPGATE_CHOSEN", switch.format(number)).replace("OPGATE_NUMBER", str(number))
            for code in (mutant.before, mutant.after)
        )
        begins.setdefault(mutant.place.begin, []).append((-length, before))
        ends.setdefault(mutant.place.end, []).append((length, after))
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
