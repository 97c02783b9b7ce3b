"""What a language of sources must do so that `opgate mutate` can change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from opgate.mutation.mutant import Mutant

AnyMutant = TypeVar("AnyMutant", bound=Mutant)


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
    announce: Callable[[str], None]
    """Tells the user what is done next."""


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
class Source(Generic[AnyMutant]):
    """A source and its mutants."""

    file: str
    """Relative to the project."""
    content: bytes
    mutants: list[AnyMutant]
    not_understood: list[int] = field(default_factory=list)
    """Lines that the parser does not understand, so that they have no mutants."""

    def number(self, first: int) -> None:
        """Gives the mutants consecutive numbers."""
        self.mutants = [
            replace(mutant, number=number, file=self.file)
            for number, mutant in enumerate(self.mutants, first)
        ]

    def chosen(self, numbers: Iterable[int]) -> list[AnyMutant]:
        """The mutants with these numbers."""
        wanted = set(numbers)
        return [mutant for mutant in self.mutants if mutant.number in wanted]


class Language(Protocol[AnyMutant]):
    """A language of sources."""

    endings: tuple[str, ...]

    def read(self, root: Path, file: str) -> Source[AnyMutant]:
        """Finds the mutants of a source, whose path is relative to `root`. Raises UserError."""

    def write(self, request: Build, sources: list[Source[AnyMutant]], chosen: list[Mutant]) -> Built:
        """Makes programs that have the chosen mutants, which are not empty. Raises UserError."""
