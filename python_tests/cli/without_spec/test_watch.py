"""opgate watch runs the cheap checks of what a rebuild changed; and runs that need no Python."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import OpGate, read_results

RECORD = {
    "recorded": 1,
    "op": "seen::blind",
    "schema": "seen::blind(Tensor x, float factor=2.) -> Tensor",
    "torch": "2.15.0",
    "calls": 1,
    "dtypes": {"cpu": ["float32"]},
    "differentiated": False,
    "samples": [{"arguments": [{"shape": [4, 6], "values": "uniform"}, 2.0], "calls": 1}],
}


@pytest.fixture(scope="module")
def fixed(build: Path) -> Path:
    """The library with its operator fixed."""
    return build / "lib" / "libopgate_seen_fixed.so"


@pytest.fixture
def folder(seen_library: Path, tmp_path: Path) -> Path:
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "seen.blind.json").write_text(json.dumps(RECORD))
    (tmp_path / "opgate.toml").write_text('libraries = ["./libseen.so"]\nrecorded = "recorded"\n')
    put(seen_library, tmp_path)
    return tmp_path


def put(library: Path, folder: Path) -> None:
    """Replaces the file, as a linker does that writes beside the old file."""
    (folder / "new.so").write_bytes(library.read_bytes())
    os.replace(folder / "new.so", folder / "libseen.so")


def lines_until(process: subprocess.Popen[str], word: str) -> list[str]:
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            break
    return lines


@pytest.fixture
def watching(opgate: OpGate, folder: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [str(opgate.program), "watch", *getattr(request, "param", [])],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    yield process
    process.kill()
    process.wait()


def test_a_rebuild_is_checked_at_once(watching: subprocess.Popen[str], folder: Path, fixed: Path) -> None:
    first = "".join(lines_until(watching, "watching"))
    assert "is read as if it were dense" in first
    put(fixed, folder)
    second = "".join(lines_until(watching, "watching"))
    assert " 0 failed, 0 owed" in second
    (folder / "libseen.so").write_text("a linker that stopped in the middle")
    assert "cannot be loaded" in "".join(lines_until(watching, "watching"))
    put(fixed, folder)
    assert " 0 failed, 0 owed" in "".join(lines_until(watching, "watching"))
    watching.send_signal(signal.SIGINT)
    assert watching.wait(timeout=1800) == 0
    assert not (folder / ".opgate" / "results.jsonl").exists(), "the results of `opgate run` are another's"


@pytest.mark.parametrize("watching", [["--once"]], indirect=True)
def test_once_is_until_the_first_change(watching: subprocess.Popen[str], folder: Path, fixed: Path) -> None:
    assert "is read as if it were dense" in "".join(lines_until(watching, "watching"))
    put(fixed, folder)
    rest, _ = watching.communicate(timeout=1800)
    assert watching.returncode == 0
    assert " 0 failed, 0 owed" in rest
    assert "watching" not in rest


def test_native_checks_need_no_python(folder: Path, opgate: OpGate) -> None:
    without = {"OPGATE_PYTHON": "/nowhere/python"}
    run = opgate("run", "--check", "value.layout", "memory", folder=folder, environment=without)
    assert run.returncode == 1, run
    assert read_results(folder / ".opgate").failing_checks("blind") == {"value.layout", "memory.bounds"}
    asked = opgate("run", "--check", "fake", folder=folder, environment=without)
    assert asked.returncode == 2
    assert "there is no Python interpreter /nowhere/python" in asked.stderr


def test_operators_of_other_folders_have_other_sources(opgate: OpGate, identity_project: object) -> None:
    project = identity_project()  # type: ignore[operator]
    said = opgate("list", "sources", folder=project).stdout.splitlines()
    digests = {op: digest for digest, op in (line.split() for line in said)}
    assert re.fullmatch("[0-9a-f]{40}", digests["identity_conv"])


def test_a_check_of_the_python_half_is_named_as_its_file(
    opgate: OpGate, build: Path, identity_project: object
) -> None:
    """The cached files say which checks need Python, without asking Python."""
    project = identity_project()  # type: ignore[operator]
    lines = opgate("list", "checks", folder=project).stdout.splitlines()
    ids = {line.split()[0] for line in lines if line.split()[1] == "python"}
    files = {file.stem for file in (build / "python" / "opgate" / "checks").glob("[a-z]*.py")}
    assert ids == {name.replace("_", ".", 1) for name in files}
