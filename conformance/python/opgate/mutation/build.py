"""Builds a library with all of its mutants, without those that no compiler takes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opgate.mutation.instrumentation import HEADER, HEADER_NAME, Source, instrumented, numbered, source_of
from opgate.mutation.mutant import Mutant
from opgate.mutation.tree import copy_tree, write_if_changed

# Of gcc, clang and nvcc: "FILE:LINE:COLUMN: error: ..." and "FILE(LINE): error: ...".
DIAGNOSTIC = re.compile(r"^(.+?)(?::(\d+)(?::\d+)?:|\((\d+)\):).*", re.MULTILINE)
MOST_ATTEMPTS = 25
LAST_LINES = 12


class BuildFailure(Exception):
    """The project cannot be built, which has nothing to do with its mutants."""


@dataclass
class Build:
    """What the user asks for: a project, its sources, and how it is built."""

    root: Path
    copy: Path
    sources: list[str]
    command: str
    log: Path
    environment: dict[str, str]


@dataclass
class Built:
    """The mutants in the build, and those that could not be compiled."""

    mutants: list[Mutant]
    refused: list[Mutant]
    not_understood: dict[str, list[int]]


def build(
    request: Build, choose: Callable[[list[Mutant]], list[Mutant]], announce: Callable[[str], None]
) -> Built:
    """Builds the copy of the project with the mutants that `choose` selects from all. Raises BuildFailure."""
    sources, mutants = _all_mutants(request)
    chosen = choose([mutant for of_source in mutants for mutant in of_source])
    copy_tree(request.root, request.copy, [Path(source.file) for source in sources])
    most = 1 + max((mutant.number for mutant in chosen), default=0)
    header = HEADER.read_bytes().replace(b"#define OPGATE_MUTANTS 1024", b"#define OPGATE_MUTANTS %d" % most)
    # Beside each source, so that the compiler's cache takes copies in different folders for the same.
    for folder in {(request.copy / source.file).parent for source in sources}:
        write_if_changed(folder / HEADER_NAME, header)
    refused: list[Mutant] = []
    for attempt in range(1, MOST_ATTEMPTS + 1):
        numbers = {mutant.number for mutant in chosen}
        for source, of_source in zip(sources, mutants, strict=True):
            write_if_changed(request.copy / source.file, instrumented(source, of_source, numbers))
        announce(f"building {len(chosen)} mutants" + (f", attempt {attempt}" if attempt > 1 else ""))
        if (printed := _run(request)) is None:
            not_understood = {
                source.file: source.not_understood for source in sources if source.not_understood
            }
            return Built(chosen, refused, not_understood)
        bad = _blamed(printed, chosen)
        if not bad:
            raise BuildFailure(
                f"`{request.command}` failed in {request.copy}, and no mutant is the reason:\n"
                + "\n".join(printed.splitlines()[-LAST_LINES:])
                + f"\nThe whole log is {request.log}"
            )
        refused += bad
        chosen = [mutant for mutant in chosen if mutant not in bad]
    raise BuildFailure(
        f"`{request.command}` still fails after {MOST_ATTEMPTS} attempts, each without the mutants that the "
        f"last one could not compile; the log is {request.log}"
    )


def _all_mutants(request: Build) -> tuple[list[Source], list[list[Mutant]]]:
    sources = [source_of(request.root, file) for file in request.sources]
    mutants: list[list[Mutant]] = []
    first = 1
    for source in sources:
        mutants.append(numbered(source, first))
        first += len(mutants[-1])
    return sources, mutants


def _run(request: Build) -> str | None:
    """Runs the build; returns what it has printed if it failed."""
    request.log.parent.mkdir(parents=True, exist_ok=True)
    with request.log.open("w") as log:
        status = subprocess.run(
            ["/bin/sh", "-c", request.command],
            cwd=request.copy,
            env=os.environ | request.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        ).returncode
    return None if status == 0 else request.log.read_text(errors="replace")


def _blamed(printed: str, chosen: Sequence[Mutant]) -> list[Mutant]:
    """The mutants on lines with an error; else those on other lines that the compiler names."""
    errors: set[tuple[str, int]] = set()
    others: set[tuple[str, int]] = set()
    for match in DIAGNOSTIC.finditer(printed):
        place = (os.path.normpath(match[1]), int(match[2] or match[3]))
        (errors if "error" in match[0] else others).add(place)
    for places in (errors, others):
        blamed = [
            mutant
            for mutant in chosen
            if any(line == mutant.line and f"/{file}".endswith(f"/{mutant.file}") for file, line in places)
        ]
        if blamed:
            return blamed
    return []
