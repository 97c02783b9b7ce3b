"""Writes Python modules with all mutants behind switches, and kernels in Triton with one mutant each."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from opgate.mutation.language import Build, BuildFailure, Built, Source, switched
from opgate.mutation.mutant import Mutant
from opgate.mutation.python.change import PythonChange
from opgate.mutation.python.kinds import EVERYWHERE, is_long
from opgate.mutation.python.kinds_of_operators import FOR_OPERATORS
from opgate.mutation.python.syntax import Site, Text, first_line, sites
from opgate.mutation.python.triton_kinds import FOR_KERNELS, is_axis, is_other, of_tail
from opgate.mutation.running import VARIABLE
from opgate.mutation.tree import write_if_changed


class Python:
    """Modules, of which a worker loads copies (`running.py`)."""

    endings = (".py",)

    def read(self, root: Path, file: str) -> Source[PythonChange]:
        """Finds the changes of a module."""
        try:
            text = Text((root / file).read_bytes())
            tree = ast.parse(text.content, filename=file)
        except (SyntaxError, UnicodeDecodeError) as error:
            raise BuildFailure(f"{file} is no Python source: {error}") from error
        changes = [change for site in sites(tree, text) for change in _changes_of(site)]
        return Source(file, text.content, changes)

    def write(
        self,
        request: Build,
        sources: Sequence[Source[PythonChange]],
        chosen: list[Mutant],
        announce: Callable[[str], None],  # noqa: ARG002
    ) -> Built:
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
                    "file": str(file),
                    "name": _module_name(file),
                    "digest": hashlib.sha256(file.read_bytes()).hexdigest(),
                    "code": str(code),
                    "functions": sorted(
                        {change.place.function.partition(".")[0] for change in source.changes} - {""}
                    ),
                    "kernels": kernels(source, numbers),
                }
            )
        table = request.python / "mutants.json"
        table.write_text(json.dumps({"folder": str(request.python / "compiled"), "sources": described}))
        return Built(chosen, environment={VARIABLE: str(table)})


def instrumented(source: Source[PythonChange], numbers: Iterable[int]) -> bytes:
    """The module with the mutants of these numbers behind switches; its lines keep their numbers.

    Functions that Triton compiles stay as they are: `kernels` has their mutants.
    """
    run = [(number, change) for number, change in source.chosen(numbers) if change.kernel is None]
    return switched(source.content, run, "_opgate_is({})")


def kernels(source: Source[PythonChange], numbers: Iterable[int]) -> list[dict[str, Any]]:
    """The functions that Triton compiles: their first lines, and their code in each of these mutants."""
    text = Text(source.content)
    by_line: dict[int, dict[int, str]] = {}
    for number, change in source.chosen(numbers):
        if change.kernel is not None:
            line = first_line(change.kernel)
            by_line.setdefault(line, {})[number] = _compiled(text, change.kernel, change)
    return [{"line": line, "mutants": of_line} for line, of_line in sorted(by_line.items())]


def _changes_of(site: Site) -> Iterator[PythonChange]:
    if is_long(site):
        return
    has_a_kind_of_its_own = is_axis(site) or is_other(site)
    kinds = [*EVERYWHERE, of_tail]
    kinds += FOR_KERNELS if site.kernel is not None else FOR_OPERATORS
    for kind in kinds:
        yield from (change for change in kind(site) if change.kind != "constant" or not has_a_kind_of_its_own)


def _compiled(text: Text, kernel: ast.FunctionDef, change: PythonChange) -> str:
    """The function as Triton reads it, without decorators and indentation, with this change."""
    before = text.between(text.begins[kernel.lineno - 1], change.place.begin)
    code = before + change.replaced + text.between(change.place.end, text.end(kernel))
    return textwrap.dedent(code) + "\n"


def _module_name(file: Path) -> str:
    """The name by which a module is imported: with those of the packages that it is in."""
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
