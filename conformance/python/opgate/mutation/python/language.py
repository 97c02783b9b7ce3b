"""Writes Python modules with all mutants behind switches, and kernels in Triton with one mutant each."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from opgate.mutation.language import Build, Built, Source
from opgate.mutation.mutant import Mutant
from opgate.mutation.python.change import PythonMutant
from opgate.mutation.python.kinds import EVERYWHERE, is_long
from opgate.mutation.python.kinds_of_operators import FOR_OPERATORS
from opgate.mutation.python.syntax import Site, Text, first_line, sites
from opgate.mutation.python.triton_kinds import FOR_KERNELS, is_axis, is_other, of_tail
from opgate.mutation.running import VARIABLE
from opgate.mutation.splicing import switched
from opgate.mutation.tree import write_if_changed
from opgate.request import UserError


class Python:
    """Modules, of which a worker loads copies (`running.py`)."""

    endings = (".py",)

    def read(self, root: Path, file: str) -> Source[PythonMutant]:
        """Finds the mutants of a module."""
        try:
            text = Text((root / file).read_bytes())
            tree = ast.parse(text.content, filename=file)
        except (SyntaxError, UnicodeDecodeError) as error:
            raise UserError(f"{file} is no Python source: {error}") from error
        mutants = [mutant for site in sites(tree, text) for mutant in _mutants_of(site)]
        return Source(file, text.content, mutants)

    def write(self, request: Build, sources: list[Source[PythonMutant]], chosen: list[Mutant]) -> Built:
        """Writes the modules, and the file that describes them for `running.py`."""
        numbers = {mutant.number for mutant in chosen}
        shutil.rmtree(request.python, ignore_errors=True)
        described = []
        for source in sources:
            if not source.chosen(numbers):
                continue
            code = request.python / source.file
            write_if_changed(code, instrumented(source, numbers))
            file = request.root / source.file
            described.append(
                {
                    "file": str(file.resolve()),
                    "name": _module_name(file),
                    "digest": hashlib.sha256(file.read_bytes()).hexdigest(),
                    "code": str(code),
                    "functions": sorted(
                        {mutant.place.function.partition(".")[0] for mutant in source.mutants} - {""}
                    ),
                    "kernels": kernels(source, numbers),
                }
            )
        table = request.python / "mutants.json"
        table.write_text(json.dumps({"folder": str(request.python / "compiled"), "sources": described}))
        return Built(chosen, environment={VARIABLE: str(table)})


def instrumented(source: Source[PythonMutant], numbers: Iterable[int]) -> bytes:
    """The module with the mutants of these numbers behind switches; its lines keep their numbers.

    Functions that Triton compiles stay as they are: `kernels` has their mutants.
    """
    run = [mutant for mutant in source.chosen(numbers) if mutant.kernel is None]
    return switched(source.content, run, "_opgate_is({})")


def kernels(source: Source[PythonMutant], numbers: Iterable[int]) -> dict[int, dict[int, str]]:
    """By the first lines of functions that Triton compiles: their code in each of these mutants."""
    text = Text(source.content)
    by_line: dict[int, dict[int, str]] = {}
    for mutant in source.chosen(numbers):
        if mutant.kernel is not None:
            line = first_line(mutant.kernel)
            by_line.setdefault(line, {})[mutant.number] = _compiled(text, mutant.kernel, mutant)
    return by_line


def _mutants_of(site: Site) -> Iterator[PythonMutant]:
    if is_long(site):
        return
    has_a_kind_of_its_own = is_axis(site) or is_other(site)
    special = FOR_KERNELS if site.kernel is not None else FOR_OPERATORS
    for changed, kind in (*EVERYWHERE, (ast.Call, of_tail), *special):
        if isinstance(site.node, changed):
            mutants = kind(site, site.node)
            yield from (each for each in mutants if each.kind != "constant" or not has_a_kind_of_its_own)


def _compiled(text: Text, kernel: ast.FunctionDef, mutant: PythonMutant) -> str:
    """The function as Triton reads it, without decorators and indentation, with this mutant."""
    before = text.between(text.begins[kernel.lineno - 1], mutant.place.begin)
    code = before + mutant.replaced + text.between(mutant.place.end, text.end(kernel))
    return textwrap.dedent(code) + "\n"


def _module_name(file: Path) -> str:
    """The name by which a module is imported: with those of the packages that it is in."""
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
