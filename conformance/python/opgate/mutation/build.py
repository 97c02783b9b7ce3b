"""Builds a project with all of its mutants, without those that no compiler takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from opgate.mutation.cpp.language import Cpp
from opgate.mutation.language import Build, Built, Language, Source
from opgate.mutation.mutant import Mutant
from opgate.mutation.ptx.language import Ptx
from opgate.mutation.python.language import Python

LANGUAGES: tuple[Language[Any], ...] = (Cpp(), Python(), Ptx())
ENDINGS = tuple(ending for language in LANGUAGES for ending in language.endings)


def read(root: Path, file: str, first: int = 1) -> Source[Any]:
    """Reads a source, and numbers its mutants from `first` on. Raises UserError."""
    (language,) = (each for each in LANGUAGES if file.endswith(each.endings))
    source = language.read(root, file)
    source.number(first)
    return source


def build(request: Build, choose: Callable[[list[Mutant]], list[Mutant]]) -> Built:
    """Builds the project with the mutants that `choose` selects from all. Raises UserError."""
    sources: list[Source[Any]] = []
    for language in LANGUAGES:
        for file in (each for each in request.sources if each.endswith(language.endings)):
            sources.append(read(request.root, file, 1 + sum(len(each.mutants) for each in sources)))
    chosen = choose([mutant for source in sources for mutant in source.mutants])
    built = Built()
    for language in LANGUAGES:
        if mutants := [mutant for mutant in chosen if mutant.file.endswith(language.endings)]:
            own = [source for source in sources if source.file.endswith(language.endings)]
            built.add(language.write(request, own, mutants))
    return built
