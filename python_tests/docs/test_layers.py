"""The folders of conformance/ include each other one way, in the order that docs/design.md shows."""

import re
from pathlib import Path

import pytest

INCLUDE = re.compile(r'^#include "(?P<folder>[a-z_]+)/', re.MULTILINE)
SOURCES = (".h", ".cpp", ".cu", ".cuh")


def documented_layers(design: str) -> list[set[str]]:
    """The layers of docs/design.md, lowest first: a table row holds the folders of one layer."""
    table = design.partition("| layer | folders |")[2]
    rows = re.findall(r"^\| \d+ \| (.*?) \|", table, re.MULTILINE)
    return [set(re.findall(r"`([a-z_]+)/`", row)) for row in rows]


def wrong_includes(root: Path, layers: list[set[str]]) -> list[str]:
    """Includes of a folder that is in the same layer or a higher one, and folders that are in no layer."""
    height = {folder: number for number, layer in enumerate(layers) for folder in layer}
    wrong = []
    for file in sorted(root.rglob("*")):
        if file.suffix not in SOURCES:
            continue
        path = file.relative_to(root)
        here = path.parts[0]
        if here == "include":
            continue  # public headers include each other as <opgate/...>
        for match in INCLUDE.finditer(file.read_text()):
            there = match["folder"]
            if there != here and not height.get(there, len(layers)) < height.get(here, -1):
                wrong.append(f"{path} includes {there}/")
        if here not in height:
            wrong.append(f"{path}: docs/design.md names no layer of {here}/")
    return wrong


def test_includes_follow_the_layers_of_the_design(source: Path) -> None:
    layers = documented_layers((source / "docs" / "design.md").read_text())
    assert len(layers) > 5
    assert wrong_includes(source / "conformance", layers) == []


@pytest.mark.parametrize(
    ("file", "include", "complaint"),
    [
        ("low/one.cpp", "high/two.h", "low/one.cpp includes high/"),
        ("low/one.cpp", "other/two.h", "low/one.cpp includes other/"),
        ("unknown/one.cpp", "low/two.h", "unknown/one.cpp includes low/"),
        ("high/one.cpp", "low/two.h", None),
        ("high/one.cpp", "high/two.h", None),
    ],
)
def test_an_include_of_a_higher_layer_is_found(
    tmp_path: Path, file: str, include: str, complaint: str | None
) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(f'#include "{include}"\n')
    wrong = wrong_includes(tmp_path, [{"low", "other"}, {"high"}])
    assert wrong[:1] == ([complaint] if complaint else [])
