"""Builds a project with all of its mutants, without those that no compiler takes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opgate.mutation.instrumentation import HEADER, HEADER_NAME, Source, instrumented, numbered, source_of
from opgate.mutation.mutant import Mutant
from opgate.mutation.ptx_source import ENDING as PTX_ENDING
from opgate.mutation.ptx_source import PtxSource, ptx_described, ptx_numbered, ptx_source_of
from opgate.mutation.python_source import (
    ENDING,
    PythonSource,
    kernels,
    python_instrumented,
    python_numbered,
    python_source_of,
)
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

    mutants: list[Mutant]
    refused: list[Mutant]
    not_understood: dict[str, list[int]]
    python_table: Path | None
    """For the modules with mutants, for `running.py`; None if there are none."""
    ptx_table: Path | None = None
    """The same of PTX, for the simulated device."""


@dataclass
class Libraries:
    """Sources of C++ and CUDA, and their mutants."""

    sources: list[Source]
    mutants: list[list[Mutant]]


@dataclass
class Modules:
    """Sources of Python, and their mutants."""

    sources: list[PythonSource]
    mutants: list[list[Mutant]]


@dataclass
class Ptx:
    """Sources of PTX, and their mutants."""

    sources: list[PtxSource]
    mutants: list[list[Mutant]]


def build(
    request: Build, choose: Callable[[list[Mutant]], list[Mutant]], announce: Callable[[str], None]
) -> Built:
    """Builds the project with the mutants that `choose` selects from all. Raises BuildFailure."""
    libraries, modules, ptx = _all_mutants(request)
    groups = (libraries.mutants, modules.mutants, ptx.mutants)
    chosen = choose([mutant for group in groups for of_source in group for mutant in of_source])

    def of(group: list[list[Mutant]]) -> list[Mutant]:
        known = {id(mutant) for of_source in group for mutant in of_source}
        return [mutant for mutant in chosen if id(mutant) in known]

    built = Built([], [], {}, None)
    if of_libraries := of(libraries.mutants):
        built = _build_libraries(request, libraries, of_libraries, announce)
    if of_modules := of(modules.mutants):
        built.mutants += of_modules
        built.python_table = _write_modules(request, modules, {mutant.number for mutant in of_modules})
    if of_ptx := of(ptx.mutants):
        built.mutants += of_ptx
        built.ptx_table = _write_ptx(request, ptx, {mutant.number for mutant in of_ptx})
    return built


def _build_libraries(
    request: Build, libraries: Libraries, chosen: list[Mutant], announce: Callable[[str], None]
) -> Built:
    if not request.command:
        raise BuildFailure(
            f"{request.config} does not say how the project is built: add mutation = {{ sources = [...], "
            'command = "...", folder = "..." }; the command runs in a copy of the project'
        )
    sources, mutants = libraries.sources, libraries.mutants
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
            return Built(chosen, refused, not_understood, None)
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


def _write_modules(request: Build, modules: Modules, numbers: set[int]) -> Path:
    """Writes modules with these mutants, and returns the file that describes them for `running.py`."""
    shutil.rmtree(request.python, ignore_errors=True)
    described = []
    for source, mutants in zip(modules.sources, modules.mutants, strict=True):
        if not numbers & {mutant.number for mutant in mutants}:
            continue
        code = request.python / source.file
        write_if_changed(code, python_instrumented(source, mutants, numbers))
        file = request.root / source.file
        described.append(
            {
                "file": str(file),
                "name": _module_name(file),
                "digest": hashlib.sha256(file.read_bytes()).hexdigest(),
                "code": str(code),
                "functions": sorted({mutant.function.partition(".")[0] for mutant in mutants} - {""}),
                "kernels": kernels(source, mutants, numbers),
            }
        )
    table = request.python / "mutants.json"
    table.write_text(json.dumps({"folder": str(request.python / "compiled"), "sources": described}))
    return table


def _write_ptx(request: Build, ptx: Ptx, numbers: set[int]) -> Path:
    """Writes the mutants of these numbers into a file for the simulated device, and returns it."""
    table = request.log.with_name("ptx_mutants.json")
    table.parent.mkdir(parents=True, exist_ok=True)
    described = [
        ptx_described(request.root, source, mutants, numbers)
        for source, mutants in zip(ptx.sources, ptx.mutants, strict=True)
    ]
    table.write_text(json.dumps(described))
    return table


def _module_name(file: Path) -> str:
    """The name by which a module is imported: with those of the packages that it is in."""
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _all_mutants(request: Build) -> tuple[Libraries, Modules, Ptx]:
    libraries, modules, ptx = Libraries([], []), Modules([], []), Ptx([], [])
    first = 1
    for file in request.sources:
        if file.endswith((ENDING, PTX_ENDING)):
            continue
        libraries.sources.append(source_of(request.root, file))
        libraries.mutants.append(numbered(libraries.sources[-1], first))
        first += len(libraries.mutants[-1])
    for file in request.sources:
        if not file.endswith(ENDING):
            continue
        try:
            module = python_source_of(request.root, file)
        except (SyntaxError, UnicodeDecodeError) as error:
            raise BuildFailure(f"{file} is no Python source: {error}") from error
        modules.sources.append(module)
        modules.mutants.append(python_numbered(module, first))
        first += len(modules.mutants[-1])
    for file in request.sources:
        if not file.endswith(PTX_ENDING):
            continue
        ptx.sources.append(ptx_source_of(request.root, file))
        ptx.mutants.append(ptx_numbered(ptx.sources[-1], first))
        first += len(ptx.mutants[-1])
    return libraries, modules, ptx


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
