"""An installed OpGate, or one built elsewhere, used in a user's CMake project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cuda_extension import assert_it_is_checked_without_a_gpu

pytestmark = pytest.mark.long

TOOLS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run(*words: str | Path, folder: Path, tools: str = TOOLS) -> subprocess.CompletedProcess[str]:
    """Runs it with the tools of this environment first, and none of the paths of the tests themselves."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(word) for word in words]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment | {"PATH": tools},
        capture_output=True,
        text=True,
        timeout=1800,
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


def build_project(root: Path, project: Path) -> None:
    """Builds it with the OpGate below `root`, where `opgate --cmake-prefix` says."""
    told = run(root / "bin" / "opgate", "--cmake-prefix", folder=project)
    assert told.stdout == f"{root}\n"
    configured = configure(project, f"-DCMAKE_PREFIX_PATH={told.stdout.strip()}")
    assert configured.returncode == 0, configured
    built = run("cmake", "--build", "build", folder=project)
    assert built.returncode == 0, built


@pytest.fixture(scope="module")
def built_project(source: Path, prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Someone else's library, built with the OpGate that is installed."""
    folder = tmp_path_factory.mktemp("built") / "someone else's library"
    shutil.copytree(source / "fixtures" / "library", folder)
    build_project(prefix, folder)
    return folder


def assert_its_tests_pass(project: Path) -> None:
    native = ["-R", r"\.(value|effect|memory)\.cpu", "--output-on-failure", "--no-tests=error"]
    tested = run("ctest", "--test-dir", "build", *native, folder=project)
    assert tested.returncode == 0, tested
    assert re.search(r"100% tests passed.* out of 3\b", tested.stdout), tested.stdout


def test_a_project_finds_what_is_installed_and_its_tests_pass(built_project: Path) -> None:
    assert_its_tests_pass(built_project)


@pytest.mark.exhaustive
def test_a_project_finds_a_build_and_its_tests_pass(project: Path, build: Path) -> None:
    build_project(build, project)
    assert_its_tests_pass(project)


@pytest.fixture(scope="module")
def tests(built_project: Path) -> dict[str, dict[str, Any]]:
    """The properties of each test that opgate_discover_tests has given to ctest, by its name."""
    listed = run("ctest", "--test-dir", "build", "--show-only=json-v1", folder=built_project)
    assert listed.returncode == 0, listed
    return {
        test["name"]: {entry["name"]: entry["value"] for entry in test["properties"]}
        for test in json.loads(listed.stdout)["tests"]
    }


def test_each_operator_group_and_device_is_a_test(tests: dict[str, dict[str, Any]]) -> None:
    assert {"my_ops.relu.value.cpu", "my_ops.relu.aoti.cpu", "my_ops.relu.value.cuda"} <= set(tests)


def test_a_test_on_a_gpu_takes_one(tests: dict[str, dict[str, Any]]) -> None:
    for name, properties in tests.items():
        on_gpu = name.endswith(".cuda")
        assert ("gpu" in properties["LABELS"]) == on_gpu
        assert ("RESOURCE_GROUPS" in properties) == on_gpu, name
    groups = tests["my_ops.relu.value.cuda"]["RESOURCE_GROUPS"]
    assert groups == [{"requirements": [{".type": "gpus", "slots": 1}]}]


def test_what_takes_longest_begins_first_and_none_runs_for_ever(tests: dict[str, dict[str, Any]]) -> None:
    assert all(properties["TIMEOUT"] == 900 for properties in tests.values())
    assert tests["my_ops.relu.aoti.cpu"]["COST"] > tests["my_ops.relu.registration.cpu"]["COST"] >= 1
    assert "slow" in tests["my_ops.relu.compile.cpu"]["LABELS"]
    assert "slow" not in tests["my_ops.relu.value.cpu"]["LABELS"]


def test_what_is_owed_shows_as_skipped(built_project: Path, has_gpu: bool) -> None:
    tested = run("ctest", "--test-dir", "build", "-R", r"value\.cuda", folder=built_project)
    assert tested.returncode == 0, tested
    assert ("Skipped" in tested.stdout) != has_gpu, tested.stdout


def test_what_is_installed_needs_no_build_tree(project: Path, prefix: Path, build: Path) -> None:
    """Neither programs nor libraries of it are found by a path into the build."""
    loaded = run("ldd", prefix / "bin" / "opgate", folder=project).stdout
    assert f"{prefix}/" in loaded
    assert str(build) not in loaded


@pytest.mark.exhaustive
def test_a_cuda_library_is_checked_on_the_simulated_device(
    source: Path, prefix: Path, tmp_path: Path, has_simulator: bool
) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    tools = f"{prefix / 'bin'}{os.pathsep}{TOOLS}"
    assert_it_is_checked_without_a_gpu(partial(run, tools=tools), source, tmp_path)


def test_another_torch_is_told_apart(project: Path, prefix: Path, tmp_path: Path) -> None:
    other = shutil.copytree(prefix, tmp_path / "other")
    configuration = other / "share" / "cmake" / "OpGate" / "OpGateConfig.cmake"
    text = configuration.read_text()
    configuration.write_text(re.sub(r'VERSION_EQUAL "[\d.]+"', 'VERSION_EQUAL "2.99.0"', text))
    configured = configure(project, f"-DCMAKE_PREFIX_PATH={other}")
    assert configured.returncode != 0
    assert "this OpGate was built with torch" in " ".join(configured.stderr.split())


def test_missing_headers_are_named_at_once_with_their_packages(source: Path, tmp_path: Path) -> None:
    python = f"-DPython_EXECUTABLE={sys.executable}"
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("CLI11", "nlohmann_json")]
    configured = run(
        "cmake",
        "-G",
        "Ninja",
        "-S",
        source,
        "-B",
        tmp_path,
        python,
        *hidden,
        "-DOPGATE_TOMLPP_INCLUDE=",
        folder=tmp_path,
    )
    assert configured.returncode != 0
    (line,) = [line for line in configured.stderr.splitlines() if line.startswith("OpGate: missing are ")]
    assert "CLI11, nlohmann-json, toml++" in line
    assert "apt-get install libcli11-dev nlohmann-json3-dev libtomlplusplus-dev" in line
    assert "dnf install cli11-devel json-devel tomlplusplus-devel" in line
    assert "conda install -c conda-forge cli11 nlohmann_json tomlplusplus" in line
