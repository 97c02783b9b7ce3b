"""The folders of conformance/ include each other one way, in the order that docs/design.md shows.

So do those of conformance/simulator/, for which the page has a table of its own.
"""

import re
from pathlib import Path

import pytest

SOURCES = (".h", ".cpp", ".cu", ".cuh")


def documented_layers(design: str, heading: str) -> list[set[str]]:
    """The layers of the table below a heading, lowest first: a table row holds the folders of one layer."""
    table = design.partition(f"\n{heading}\n")[2].partition("| layer | folders |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| \d+ \| (.*?) \|", table, re.MULTILINE)
    return [set(re.findall(r"`([a-z_]+)/`", row)) for row in rows]


def wrong_includes(root: Path, layers: list[set[str]], prefix: str = "") -> list[str]:
    """Includes of a folder that is in the same layer or a higher one, and folders that are in no layer.

    `prefix` is what includes of the root's folders begin with.
    """
    include = re.compile(rf'^#include "{prefix}(?P<folder>[a-z_]+)/', re.MULTILINE)
    height = {folder: number for number, layer in enumerate(layers) for folder in layer}
    wrong = []
    for file in sorted(root.rglob("*")):
        if file.suffix not in SOURCES:
            continue
        path = file.relative_to(root)
        here = path.parts[0]
        if here == "include":
            continue  # public headers include each other as <opgate/...>
        for match in include.finditer(file.read_text()):
            there = match["folder"]
            if there != here and not height.get(there, len(layers)) < height.get(here, -1):
                wrong.append(f"{prefix}{path} includes {prefix}{there}/")
        if here not in height:
            wrong.append(f"{prefix}{path}: docs/design.md names no layer of {prefix}{here}/")
    return wrong


@pytest.mark.parametrize(
    ("heading", "prefix"),
    [("## Folders", ""), ("### Inside `simulator/`", "simulator/")],
    ids=["all", "simulator"],
)
def test_includes_follow_the_layers_of_the_design(source: Path, heading: str, prefix: str) -> None:
    layers = documented_layers((source / "docs" / "design.md").read_text(), heading)
    assert len(layers) > 5
    assert wrong_includes(source / "conformance" / prefix, layers, prefix) == []


def test_each_table_ends_before_the_next_one() -> None:
    table = "\n| layer | folders |\n| --- | --- |\n| 1 | `low/` |\n| 2 | `{}/`, `high/` |\n\n"
    design = f"# Page\n## One\n{table.format('here')}## Two\ntext\n{table.format('there')}"
    assert documented_layers(design, "## One") == [{"low"}, {"high", "here"}]
    assert documented_layers(design, "## Two") == [{"low"}, {"high", "there"}]


@pytest.mark.parametrize("prefix", ["", "simulator/"])
@pytest.mark.parametrize(
    ("file", "include", "complaint"),
    [
        ("low/one.cpp", "high/two.h", "low/one.cpp includes {}high/"),
        ("low/one.cpp", "other/two.h", "low/one.cpp includes {}other/"),
        ("unknown/one.cpp", "low/two.h", "unknown/one.cpp includes {}low/"),
        ("high/one.cpp", "low/two.h", None),
        ("high/one.cpp", "high/two.h", None),
    ],
)
def test_an_include_of_a_higher_layer_is_found(
    tmp_path: Path, prefix: str, file: str, include: str, complaint: str | None
) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(f'#include "{prefix}{include}"\n')
    wrong = wrong_includes(tmp_path, [{"low", "other"}, {"high"}], prefix)
    assert wrong[:1] == ([prefix + complaint.format(prefix)] if complaint else [])
