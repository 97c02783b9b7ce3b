"""Mistakes in a configuration, a library or a package are reported in one line, with exit status 2."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import FASTEST, OpGate, assert_refused

NewProject = Callable[..., Path]


def test_a_library_that_is_missing_is_looked_for_in_named_places(
    opgate: OpGate, new_project: NewProject, build: Path
) -> None:
    project = new_project(libraries=["libgone.so"], library_path=["elsewhere"])
    result = opgate("run", folder=project)
    assert_refused(result, "libgone.so is missing", str(project / "elsewhere"), str(build / "lib"))
    assert_refused(result, str(project / "opgate.toml"))


def test_a_path_to_no_library_is_named(opgate: OpGate, new_project: NewProject) -> None:
    project = new_project(libraries=["build/libgone.so"])
    assert_refused(opgate("run", folder=project), str(project / "build/libgone.so"), "is missing")


def test_a_text_file_is_no_library(opgate: OpGate, new_project: NewProject) -> None:
    project = new_project(libraries=["./notes.so"])
    (project / "notes.so").write_text("these are notes, and more than an ELF header is long\n" * 9)
    assert_refused(opgate("list", "ops", folder=project), "notes.so cannot be loaded", "invalid ELF header")


def test_an_undefined_symbol_is_named_with_a_way_out(opgate: OpGate, new_project: NewProject) -> None:
    project = new_project(libraries=["libopgate_undefined.so"])
    line = assert_refused(opgate("list", "ops", folder=project), "libopgate_undefined.so", "defined_nowhere")
    assert "neither torch nor Python defines symbols of this name" in line
    assert "name that one in `libraries` of opgate.toml" in line


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ('libraries = []\nspec = ["x.so"]\n', ["opgate.toml:2: `spec` is no setting of OpGate", "specs"]),
        ('libraries = "x.so"\n', ["opgate.toml:1: `libraries` must be a list of strings"]),
        ("specs = [\n  3]\n", ["opgate.toml:2: `specs` must be a list of strings"]),
        ("output = []\n", ["opgate.toml:1:", "`output`", "a string"]),
        ("\nlibraries = [\n", ["opgate.toml:", "array"]),
        ("this is not TOML\n", ["opgate.toml:1: "]),
        ("libraries = []\nlibraries = []\n", ["opgate.toml:2: ", "libraries"]),
        ("\x00\x01", ["opgate.toml:1: "]),
    ],
    ids=["key", "string", "number", "output", "open", "text", "twice", "binary"],
)
def test_a_wrong_configuration_is_named_with_its_line(
    text: str, fragments: list[str], opgate: OpGate, tmp_path: Path
) -> None:
    (tmp_path / "opgate.toml").write_text(text)
    assert_refused(opgate("run", folder=tmp_path), *fragments)


def test_no_configuration_says_what_to_do(opgate: OpGate, tmp_path: Path) -> None:
    assert_refused(opgate("run", folder=tmp_path), "no opgate.toml in", str(tmp_path), "--config")
    gone = tmp_path / "gone.toml"
    assert_refused(opgate("run", "--config", gone), str(gone), "no such file")
    assert_refused(opgate("run", "--config", tmp_path), str(tmp_path))


def test_an_empty_configuration_checks_nothing_and_says_so(opgate: OpGate, new_project: NewProject) -> None:
    assert_refused(opgate("run", folder=new_project()), "nothing to check")


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("1 / 0\n", ["my_models", "ZeroDivisionError: division by zero"]),
        ("import no_such_thing\n", ["my_models", "ModuleNotFoundError", "no_such_thing"]),
        ("def (\n", ["my_models", "SyntaxError"]),
        ("raise RuntimeError('one\\ntwo')\n", ["my_models", "RuntimeError: one"]),
        ("raise SystemExit(3)\n", ["my_models"]),
    ],
    ids=["raises", "imports nothing", "no Python", "two lines", "exits"],
)
def test_a_python_module_that_cannot_be_imported_is_named(
    text: str, fragments: list[str], opgate: OpGate, new_project: NewProject
) -> None:
    project = new_project(python=["my_models"], python_path=["."])
    (project / "my_models.py").write_text(text)
    assert_refused(opgate("run", folder=project), *fragments)


def test_a_model_with_a_tensor_for_a_sample_is_named(opgate: OpGate, new_project: NewProject) -> None:
    project = new_project(python=["my_models"], python_path=["."])
    (project / "my_models.py").write_text(
        'import opgate, torch\n@opgate.model("M")\ndef m(spec):\n    spec.module(torch.nn.ReLU)\n'
        "    spec.dtypes(torch.float32)\n    spec.sample(torch.ones(3))\n"
        '    spec.graph("aten.relu.default")\n    spec.reference(torch.relu)\n'
    )
    assert_refused(opgate("list", "ops", folder=project), "my_models", "uniform")


def test_an_output_below_a_file_cannot_be_written(
    opgate: OpGate, identity_project: Callable[[], Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    result = opgate("run", *FASTEST, "--output", tmp_path / "file" / "x", folder=identity_project())
    line = assert_refused(result, str(tmp_path / "file"), "--output")
    assert "Not a directory" in line


def test_an_interpreter_that_is_missing_is_named(
    opgate: OpGate, identity_project: Callable[[], Path]
) -> None:
    result = opgate("run", folder=identity_project(), environment={"OPGATE_PYTHON": "/nowhere/python"})
    assert_refused(result, "there is no Python interpreter /nowhere/python", "OPGATE_PYTHON")


def test_an_interpreter_without_torch_is_named(
    opgate: OpGate, identity_project: Callable[[], Path], tmp_path: Path
) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    result = opgate("run", folder=identity_project(), environment={"OPGATE_PYTHON": str(bare)})
    line = assert_refused(result, "torch", str(sys.executable))
    assert 'File "' not in line, "a traceback squeezed into one line"


@pytest.mark.parametrize(
    "content", [None, b"", b"text, and not a package\n" * 99, b"PK\x03\x04" + b"\0" * 500]
)
def test_what_is_no_package_is_refused(content: bytes | None, opgate: OpGate, tmp_path: Path) -> None:
    file = tmp_path / "a package.pt2"
    if content is not None:
        file.write_bytes(content)
    assert_refused(opgate("aoti", file), str(file), "is missing" if content is None else "truncated")


def test_a_folder_is_no_package(opgate: OpGate, tmp_path: Path) -> None:
    assert_refused(opgate("aoti", tmp_path), str(tmp_path))


def test_an_archive_without_a_manifest_is_no_package(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("content")
    archive = shutil.make_archive(str(tmp_path / "archive"), "zip", tmp_path / "folder")
    assert_refused(opgate("aoti", archive), archive)
