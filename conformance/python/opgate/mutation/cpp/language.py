"""Writes C++ and CUDA sources in which each mutant is behind a switch, so that one build has all of them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opgate.mutation.cpp.hints import Hints
from opgate.mutation.cpp.kinds import EVERYWHERE
from opgate.mutation.cpp.kinds_of_operators import FOR_OPERATORS
from opgate.mutation.cpp.syntax import not_understood, parsed, run_time_nodes
from opgate.mutation.language import Build, Built, Source
from opgate.mutation.mutant import Mutant
from opgate.mutation.splicing import switched
from opgate.mutation.tree import copy_tree, write_if_changed
from opgate.request import UserError

if TYPE_CHECKING:
    from tree_sitter import Node

HEADER = Path(__file__).with_name("mutants.h")
HEADER_NAME = "opgate_mutants.h"
# A diagnostic of gcc, clang and nvcc: "FILE:LINE:COLUMN: error: ..." and "FILE(LINE): error: ...".
DIAGNOSTIC = re.compile(r"^(.+?)(?::(\d+)(?::\d+)?:|\((\d+)\):).*", re.MULTILINE)
MOST_ATTEMPTS = 25
LAST_LINES = 12


class Cpp:
    """Sources of libraries, which the project's own command builds in a copy of the project."""

    endings = (".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp", ".cuh")

    def read(self, root: Path, file: str) -> Source[Mutant]:
        """Finds the mutants of a source. Raises ImportError without the package tree-sitter-cuda."""
        content = (root / file).read_bytes()
        root_node = parsed(content).root_node
        lines = sorted({node.start_point.row + 1 for node in not_understood(root_node)})
        return Source(file, content, list(mutants_in(root_node)), lines)

    def write(self, request: Build, sources: list[Source[Mutant]], chosen: list[Mutant]) -> Built:
        """Builds the copy until no mutant is left that the compiler refuses."""
        if not request.command:
            raise UserError(
                f"{request.config} does not say how the project is built: add mutation = {{ sources = [...], "
                'command = "...", folder = "..." }; the command runs in a copy of the project'
            )
        copy_tree(request.root, request.copy, [Path(source.file) for source in sources])
        most = 1 + max((mutant.number for mutant in chosen), default=0)
        header = HEADER.read_bytes().replace(
            b"#define OPGATE_MUTANTS 1024", b"#define OPGATE_MUTANTS %d" % most
        )
        # Beside each source, so that the compiler's cache takes copies in different folders for the same.
        for folder in {(request.copy / source.file).parent for source in sources}:
            write_if_changed(folder / HEADER_NAME, header)
        refused: list[Mutant] = []
        for attempt in range(1, MOST_ATTEMPTS + 1):
            numbers = {mutant.number for mutant in chosen}
            for source in sources:
                write_if_changed(request.copy / source.file, instrumented(source, numbers))
            request.announce(
                f"building {len(chosen)} mutants" + (f", attempt {attempt}" if attempt > 1 else "")
            )
            if (printed := _run(request)) is None:
                not_understood = {
                    source.file: source.not_understood for source in sources if source.not_understood
                }
                return Built(chosen, refused, not_understood, in_libraries=True)
            bad = _blamed(printed, chosen)
            if not bad:
                raise UserError(
                    f"`{request.command}` failed in {request.copy}, and no mutant is the reason:\n"
                    + "\n".join(printed.splitlines()[-LAST_LINES:])
                    + f"\nThe whole log is {request.log}"
                )
            refused += bad
            chosen = [mutant for mutant in chosen if mutant not in bad]
        raise UserError(
            f"`{request.command}` still fails after {MOST_ATTEMPTS} attempts, each without the mutants that "
            f"the last one could not compile; the log is {request.log}"
        )


def mutants_in(root_node: Node) -> Iterator[Mutant]:
    """The mutants of a source, in the order of its nodes."""
    for node in run_time_nodes(root_node, Hints(root_node).has):
        for kind in (*EVERYWHERE.get(node.type, ()), *FOR_OPERATORS.get(node.type, ())):
            # Lines keep their numbers, so the code stands in one; a comment in it would hide the rest.
            yield from (each for each in kind(node) if "//" not in each.before + each.after)


def instrumented(source: Source[Mutant], numbers: Iterable[int]) -> bytes:
    """The source with the mutants of these numbers behind switches; its lines keep their numbers."""
    chosen = source.chosen(numbers)
    if not chosen:
        return source.content
    code = switched(source.content, chosen, "opgate_mutants::is({})")
    return f'#include "{HEADER_NAME}"\n#line 1\n'.encode() + code


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
            if any(
                line == mutant.place.line and f"/{file}".endswith(f"/{mutant.file}") for file, line in places
            )
        ]
        if blamed:
            return blamed
    return []
