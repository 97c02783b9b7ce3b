"""Builds the mutants of a project for `opgate mutate`, whose request it carries out."""

from __future__ import annotations

import hashlib
import json
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from opgate.mutation.build import ENDINGS, build
from opgate.mutation.changed_lines import changed_lines
from opgate.mutation.cpp.language import Cpp
from opgate.mutation.language import Build
from opgate.mutation.mutant import Mutant
from opgate.mutation.tree import project_files
from opgate.request import UserError, asked, status_of


def sources_of(root: Path, wanted: list[str], without: list[str], of_others: list[str]) -> list[str]:
    """The sources that are named, or lie in a folder that is, relative to `root`.

    Files of operators that --op leaves out (`of_others`) are left out, unless they are named themselves.
    """
    files = [str(file) for file in project_files(root) if file.suffix in ENDINGS]
    found: list[str] = []
    for name in wanted:
        below = [file for file in files if file == name or Path(name) in Path(file).parents or name == "."]
        if not below:
            raise UserError(
                f"{name}: there is no source of C++, CUDA, PTX or Python ({', '.join(ENDINGS)}) in {root}"
            )
        found += below
    left = {
        file
        for file in found
        if not any(fnmatch(file, pattern) or fnmatch(Path(file).name, pattern) for pattern in without)
    }
    if not left:
        raise UserError(
            f"all {len(found)} sources of {', '.join(wanted)} are left out by {', '.join(without)}"
        )
    own = left - (set(of_others) - set(wanted))
    if not own:
        raise UserError(
            f"all {len(left)} sources of {', '.join(wanted)} are those of operators that --op leaves out"
        )
    return sorted(own)


def chosen(
    mutants: list[Mutant], kinds: list[str], lines: dict[str, set[int]] | None, most: int, seed: int
) -> list[Mutant]:
    """The mutants of these kinds and lines; at most so many of them, which are drawn."""
    known = sorted({mutant.kind for mutant in mutants})
    for kind in kinds:
        if kind not in known:
            raise UserError(f"no mutant is of the kind '{kind}'; there are {', '.join(known)}")
    of_kind = [
        mutant
        for mutant in mutants
        if (not kinds or mutant.kind in kinds)
        and (lines is None or mutant.place.line in lines.get(mutant.file, ()))
    ]
    if not of_kind and lines is None:
        raise UserError("the sources have no mutants")
    if 0 < most < len(of_kind):
        # By what a mutant is, so that a change of other code draws the same ones.
        drawn = sorted(of_kind, key=lambda mutant: _digest(mutant, seed))[:most]
        return sorted(drawn, key=lambda mutant: mutant.number)
    return of_kind


def _digest(mutant: Mutant, seed: int) -> bytes:
    what = [str(seed), mutant.kind, mutant.file, mutant.place.function, mutant.original, mutant.mutated]
    return hashlib.sha256("\0".join(what).encode()).digest()


def _demand_parser() -> None:
    try:
        import tree_sitter_cuda  # noqa: F401
    except ImportError as error:
        raise UserError(
            "opgate mutate reads C++ and CUDA with the Python packages tree-sitter and tree-sitter-cuda; "
            f"install them: {sys.executable} -m pip install tree-sitter tree-sitter-cuda"
        ) from error


def main(request: dict[str, Any]) -> None:
    """Builds the mutants, and writes what they are into a file. Raises what the user can change."""
    root = Path(request["root"])
    wanted = Build(
        root,
        Path(request["config"]),
        Path(request["copy"]),
        Path(request["python"]),
        sources_of(root, request["sources"], request["without"], request["of_others"]),
        request["command"],
        Path(request["log"]),
        request["environment"],
        lambda text: print(f"mutate: {text}", flush=True),
    )
    if any(file.endswith(Cpp.endings) for file in wanted.sources):
        _demand_parser()
    lines = changed_lines(root, request["diff"]) if request["diff"] else None
    how = (request["kinds"], lines, request["most"], request["seed"])
    built = build(wanted, lambda mutants: chosen(mutants, *how))
    answer = {
        "mutants": [mutant.as_json() for mutant in built.mutants],
        "refused": [mutant.as_json() for mutant in built.refused],
        "not_understood": built.not_understood,
        "sources": wanted.sources,
        "in_libraries": built.in_libraries,
        "environment": built.environment,
    }
    Path(request["answer"]).write_text(json.dumps(answer))


if __name__ == "__main__":
    sys.exit(status_of(lambda: main(asked())))
