"""What a language of sources must do so that `opgate mutate` can change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from opgate.mutation.mutant import Change, Mutant
from opgate.mutation.splicing import Wrapped, spliced

AnyChange = TypeVar("AnyChange", bound=Change)


class BuildFailure(Exception):
    """The project cannot be built, which has nothing to do with its mutants."""


@dataclass
class Build:
    """What the user asks for: a project, its sources, and how it is built."""

    root: Path
    config: Path
    """The opgate.toml, for messages."""
    copy: Path
    python: Path
    """Where Python modules with mutants are written, and what Triton compiles from them."""
    sources: list[str]
    command: str
    log: Path
    environment: dict[str, str]


@dataclass
class Built:
    """The mutants in the build, and those that could not be compiled."""

    mutants: list[Mutant] = field(default_factory=list)
    refused: list[Mutant] = field(default_factory=list)
    not_understood: dict[str, list[int]] = field(default_factory=dict)
    in_libraries: bool = False
    """Whether some of them are in libraries, so that the project was built."""
    environment: dict[str, str] = field(default_factory=dict)
    """By which workers find mutants that are in no library."""

    def add(self, other: Built) -> None:
        """Adds what another language has built."""
        self.mutants += other.mutants
        self.refused += other.refused
        self.not_understood |= other.not_understood
        self.in_libraries |= other.in_libraries
        self.environment |= other.environment


@dataclass
class Source(Generic[AnyChange]):
    """A source, and the changes that can be made to it."""

    file: str
    """Relative to the project."""
    content: bytes
    changes: Sequence[AnyChange]
    not_understood: list[int] = field(default_factory=list)
    """Lines that the parser does not understand, so that they have no mutants."""
    mutants: list[Mutant] = field(default_factory=list)
    """The changes with their numbers."""

    def number(self, first: int) -> None:
        """Gives the changes consecutive numbers."""
        self.mutants = [Mutant.of(change, first + at, self.file) for at, change in enumerate(self.changes)]

    def chosen(self, numbers: Iterable[int]) -> list[tuple[int, AnyChange]]:
        """The changes whose mutants have these numbers."""
        wanted = set(numbers)
        pairs = zip(self.mutants, self.changes, strict=True)
        return [(mutant.number, change) for mutant, change in pairs if mutant.number in wanted]


class Language(Protocol[AnyChange]):
    """A language of sources."""

    endings: tuple[str, ...]

    def read(self, root: Path, file: str) -> Source[AnyChange]:
        """Finds the changes of a source, whose path is relative to `root`. Raises BuildFailure."""

    def write(
        self,
        request: Build,
        sources: Sequence[Source[AnyChange]],
        chosen: list[Mutant],
        announce: Callable[[str], None],
    ) -> Built:
        """Makes programs that have the chosen mutants, which are not empty. Raises BuildFailure."""


def switched(content: bytes, chosen: Iterable[tuple[int, Change]], switch: str) -> bytes:
    """The source with these changes, each behind `switch`, an expression that has {} for a number."""

    def with_number(code: str, number: int) -> str:
        return code.replace("OPGATE_CHOSEN", switch.format(number)).replace("OPGATE_NUMBER", str(number))

    return spliced(
        content,
        [
            Wrapped(
                change.place.begin,
                change.place.end,
                with_number(change.before, number),
                with_number(change.after, number),
            )
            for number, change in chosen
        ],
    )
