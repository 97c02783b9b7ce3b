"""How many C++ files compile again after an edit of a header that much could include.

A header of the engine declares what it only refers to, and a file includes what it uses.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import torch

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
TORCH = Path(torch.__file__).parent / "include"

# The files of conformance/ that reach a header, about a tenth above what was measured.
MOST = {
    "spec/spec.h": 140,
    "judging/verdict.h": 140,
    "ATen/core/dispatch/Dispatcher.h": 150,
    "nlohmann/json.hpp": 100,
}


@cache
def included(file: Path, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files that this one includes; a header that is in no folder stays a bare name."""
    if not file.is_absolute():
        return ()
    found = []
    for name in INCLUDE.findall(file.read_text(errors="replace")):
        places = (file.parent / name, *(folder / name for folder in folders))
        found.append(next((place for place in places if place.is_file()), Path(name)))
    return tuple(dict.fromkeys(found))


def reached(header: str, root: Path) -> int:
    """The number of C++ files below `root` that include the header, or a header that does."""
    folders = (
        root,
        root / "include",
        root.parent / "simulator" / "include",
        TORCH,
        TORCH / "torch/csrc/api/include",
    )
    reaches: dict[Path, bool] = {}

    def look(file: Path) -> bool:
        if file not in reaches:
            reaches[file] = False  # meanwhile, for headers that include each other
            reaches[file] = str(file).endswith(header) or any(look(each) for each in included(file, folders))
        return reaches[file]

    return sum(look(file) for file in sorted(root.rglob("*.cpp")))


@pytest.mark.parametrize("header", MOST)
def test_few_files_reach_it(header: str, source: Path) -> None:
    assert reached(header, source / "conformance") <= MOST[header]


def test_what_a_header_includes_is_reached(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("#pragma once\n")
    (tmp_path / "b.h").write_text('#include "a.h"\n#include "c.h"\n')
    (tmp_path / "c.h").write_text('#include "b.h"\n')
    for name, text in {
        "one.cpp": '#include "c.h"\n',
        "two.cpp": '#include "b.h"\n',
        "three.cpp": "// a.h\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert reached("a.h", tmp_path) == 2
