"""An OpGate that is installed, or built elsewhere, in someone else's CMake project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs it with the tools of this environment first, and none of the paths of the tests themselves."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "OPGATE_BUILD", "OPGATE_SOURCE")
    }
    command = [str(word) for word in words]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment | {"PATH": TOOLS},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def configure(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    python = f"-DPython_EXECUTABLE={sys.executable}"
    return run("cmake", "-G", "Ninja", "-S", ".", "-B", "build", python, *options, folder=project)


@pytest.fixture
def project(source: Path, tmp_path: Path) -> Path:
    return shutil.copytree(source / "fixtures" / "library", tmp_path / "someone else's library")


@pytest.fixture(scope="module")
def prefix(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where OpGate is installed."""
    folder = tmp_path_factory.mktemp("installed") / "a prefix"
    result = run("cmake", "--install", build, "--prefix", folder, folder=build)
    assert result.returncode == 0, result
    return folder


@pytest.mark.parametrize("place", ["installed", "build tree"])
def test_a_project_finds_it_and_its_tests_pass(place: str, project: Path, prefix: Path, build: Path) -> None:
    root = prefix if place == "installed" else build
    told = run(root / "bin" / "opgate", "--cmake-prefix", folder=project)
    assert told.stdout == f"{root}\n"
    configured = configure(project, f"-DCMAKE_PREFIX_PATH={told.stdout.strip()}")
    assert configured.returncode == 0, configured
    built = run("cmake", "--build", "build", folder=project)
    assert built.returncode == 0, built
    native = ["-R", r"\.(value|effect|memory)\.", "--output-on-failure", "--no-tests=error"]
    tested = run("ctest", "--test-dir", "build", *native, folder=project)
    assert tested.returncode == 0, tested
    assert re.search(r"100% tests passed.* out of 3\b", tested.stdout), tested.stdout


def test_what_is_installed_needs_no_build_tree(project: Path, prefix: Path, build: Path) -> None:
    """Neither programs nor libraries of it are found by a path into the build."""
    loaded = run("ldd", prefix / "bin" / "opgate", folder=project).stdout
    assert f"{prefix}/" in loaded
    assert str(build) not in loaded


def test_another_torch_is_told_apart(project: Path, prefix: Path, tmp_path: Path) -> None:
    other = shutil.copytree(prefix, tmp_path / "other")
    configuration = other / "share" / "cmake" / "OpGate" / "OpGateConfig.cmake"
    text = configuration.read_text()
    configuration.write_text(re.sub(r'VERSION_EQUAL "[\d.]+"', 'VERSION_EQUAL "2.99.0"', text))
    configured = configure(project, f"-DCMAKE_PREFIX_PATH={other}")
    assert configured.returncode != 0
    assert "this OpGate was built with torch" in " ".join(configured.stderr.split())
