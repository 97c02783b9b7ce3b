"""The folders of conformance/ include each other one way, in the order that docs/design.md shows.

So do those of simulator/src/, for which simulator/docs/design.md has a table. Between the two projects, files
include only the public headers of simulator/include/. The rooms of the Python package, which pyproject.toml
lists, import each other one way.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SOURCES = (".h", ".cpp", ".cu", ".cuh")


def documented_layers(design: str, heading: str) -> list[set[str]]:
    """The layers of the table below a heading, lowest first: a table row holds the folders of one layer."""
    table = design.partition(f"\n{heading}\n")[2].partition("| layer | folders |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| \d+ \| (.*?) \|", table, re.MULTILINE)
    return [set(re.findall(r"`([a-z_]+)/`", row)) for row in rows]


def wrong_includes(root: Path, layers: list[set[str]]) -> list[str]:
    """Includes of a folder that is in the same layer or a higher one, and folders that are in no layer."""
    include = re.compile(r'^#include "(?P<folder>[a-z_]+)/', re.MULTILINE)
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
                wrong.append(f"{path} includes {there}/")
        if here not in height:
            wrong.append(f"{path}: no layer of {here}/ is documented")
    return wrong


def includes_across(root: Path, include: str) -> list[str]:
    """Lines of a project's sources that include what `include`, a regular expression, finds."""
    pattern = re.compile(rf'^#include [<"](?:{include})[^>"]*[>"]', re.MULTILINE)
    return [
        f"{file.relative_to(root)}: {line}"
        for file in sorted(root.rglob("*"))
        if file.suffix in SOURCES and file.is_file()
        for line in pattern.findall(file.read_text())
    ]


@pytest.mark.parametrize(
    ("root", "page", "heading"),
    [
        ("conformance", "docs/design.md", "## Folders"),
        ("simulator/src", "simulator/docs/design.md", "## Folders"),
    ],
    ids=["conformance", "simulator"],
)
def test_includes_follow_the_layers_of_the_design(source: Path, root: str, page: str, heading: str) -> None:
    layers = documented_layers((source / page).read_text(), heading)
    assert len(layers) > 5
    assert wrong_includes(source / root, layers) == []


FOREIGN_TO_THE_SIMULATOR = r"opgate/|[./]*conformance/|fmt/"
"""Includes of the engine's public headers and folders, and of a library that comes with torch."""

FOREIGN_TO_THE_ENGINE = r"[./]*simulator/"
"""The sources of the simulator by their path: its folders are in no layer of the engine."""


def test_the_simulator_and_the_engine_share_the_public_headers_alone(source: Path) -> None:
    for folder in ("src", "include", "tests"):
        assert includes_across(source / "simulator" / folder, FOREIGN_TO_THE_SIMULATOR) == []
    for folder in ("conformance", "cpp_tests", "ops", "fixtures"):
        assert includes_across(source / folder, FOREIGN_TO_THE_ENGINE) == []


def test_only_aten_includes_torch(source: Path) -> None:
    found = includes_across(source / "simulator" / "src", r"ATen/|c10/|torch/")
    assert found
    assert [line for line in found if not line.startswith("aten/")] == []


@pytest.mark.parametrize(
    ("foreign", "text", "is_found"),
    [
        (FOREIGN_TO_THE_SIMULATOR, "#include <opgate/error.h>", True),
        (FOREIGN_TO_THE_SIMULATOR, '#include "../../conformance/base/text.h"', True),
        (FOREIGN_TO_THE_SIMULATOR, "#include <opgate_sim/finding.h>", False),
        (FOREIGN_TO_THE_ENGINE, '#include "../simulator/src/ptx/body.h"', True),
        (FOREIGN_TO_THE_ENGINE, "#include <opgate_sim.h>", False),
        (FOREIGN_TO_THE_ENGINE, '#include "device/simulator.h"', False),
    ],
)
def test_an_include_across_the_border_is_found(
    tmp_path: Path, foreign: str, text: str, is_found: bool
) -> None:
    (tmp_path / "one.cpp").write_text(f"{text}\n")
    assert bool(includes_across(tmp_path, foreign)) == is_found


def test_each_table_ends_before_the_next_one() -> None:
    table = "\n| layer | folders |\n| --- | --- |\n| 1 | `low/` |\n| 2 | `{}/`, `high/` |\n\n"
    design = f"# Page\n## One\n{table.format('here')}## Two\ntext\n{table.format('there')}"
    assert documented_layers(design, "## One") == [{"low"}, {"high", "here"}]
    assert documented_layers(design, "## Two") == [{"low"}, {"high", "there"}]


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


def linted_imports(source: Path, package_root: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter reports about the package in `package_root` by the contracts of pyproject.toml."""
    command = [
        Path(sys.executable).parent / "lint-imports",
        "--no-cache",
        "--no-logo",
        "pyproject.toml",
    ]
    environment = os.environ | {"PYTHONPATH": str(package_root)}
    return subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)


def test_rooms_in_python_import_each_other_one_way(source: Path) -> None:
    linted = linted_imports(source, source / "conformance" / "python")
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize(
    ("room", "import_upwards", "reported"),
    [
        (
            "specs",
            "from opgate.worker.forking import fork",
            "opgate.specs is not allowed to import opgate.worker",
        ),
        (
            "judge/sandbox",
            "import opgate.judge.truth.samples",
            "opgate.judge.sandbox is not allowed to import",
        ),
        ("another_room", "", "opgate.another_room"),
    ],
)
def test_an_import_upwards_and_a_room_that_is_not_listed_are_reported(
    room: str, import_upwards: str, reported: str, source: Path, tmp_path: Path
) -> None:
    shutil.copytree(source / "conformance" / "python" / "opgate", tmp_path / "opgate")
    (tmp_path / "opgate" / room).mkdir(exist_ok=True)
    with (tmp_path / "opgate" / room / "__init__.py").open("a") as file:
        file.write(f"{import_upwards}\n")
    linted = linted_imports(source, tmp_path)
    assert linted.returncode == 1, linted.stdout
    assert reported in linted.stdout


def named_accelerators(code: str) -> list[str]:
    """Where Python code names the module of one accelerator instead of torch's common interface."""
    attributes = [ast.unparse(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)]
    return [name for name in attributes if name in ("torch.cuda", "torch.xpu", "torch.mps")]


def test_no_room_that_makes_calls_names_an_accelerator(source: Path) -> None:
    rooms = ("assertion", "calls", "checks", "functions", "judging", "packages", "specs", "worker")
    files = [file for room in rooms for file in (source / "conformance/python/opgate" / room).glob("*.py")]
    assert len(files) > 40
    assert {file.name: found for file in files if (found := named_accelerators(file.read_text()))} == {}
    assert named_accelerators("import torch\ntorch.cuda.synchronize()  # as in torch.xpu") == ["torch.cuda"]


OF_ONE_KIND = {
    "conformance/checks",
    "conformance/gate/rules",
    "simulator/src/instructions",
}
"""Folders in which each file is one more of the same kind: a check, a rule, a group of instructions."""

MOST_FILES = 30


def crowded(files: list[str]) -> set[str]:
    """The folders that have more files of their own than a reader can survey."""
    counts = Counter(str(Path(file).parent) for file in files if Path(file).name != "CMakeLists.txt")
    return {folder for folder, count in counts.items() if count > MOST_FILES}


def test_no_room_has_more_files_than_a_reader_can_survey(source: Path) -> None:
    rooms = ["conformance", "simulator", "cpp_tests", "python_tests"]
    listed = subprocess.run(
        ["git", "ls-files", *rooms], cwd=source, capture_output=True, text=True, check=True
    )
    assert crowded(listed.stdout.splitlines()) <= OF_ONE_KIND
    assert crowded([f"room/{number}.cpp" for number in range(MOST_FILES + 1)]) == {"room"}
