"""The wheel of `ci/wheel`: one file, in environments of several Pythons, beside someone else's project."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from cuda_extension import assert_it_is_checked_without_a_gpu
from environments import VERSION, VERSIONS, Environment, done, pythons, run

PROGRAM = """
import torch
torch.ops.load_library("build/libmy_ops.so")
torch.ops.my_ops.relu(torch.randn(4, 8))
"""


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("a clean environment")
    return Environment(place, sys.executable, VERSION, wheel, "pytest", "cmake", "ninja").programs


@pytest.fixture
def project(source: Path, tmp_path: Path) -> Path:
    return shutil.copytree(source / "fixtures" / "library", tmp_path / "someone else's library")


@pytest.fixture
def opgate(programs: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    return lambda *words, folder: run(programs / "opgate", *words, folder=folder, path=programs)


@pytest.mark.long
def test_it_is_one_file_for_all_pythons_and_requires_no_torch(wheel: Path) -> None:
    assert re.fullmatch(r"opgate-[\d.]+-py3-none-manylinux_2_28_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (name,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode().splitlines()
    for release in (version.rpartition(".")[0] for version in VERSIONS):
        bindings = [name for name in names if name.startswith(f"opgate/built/torch-{release}/_engine.")]
        assert len(bindings) == 1 + len(pythons())
    required = [
        line.removeprefix("Requires-Dist: ") for line in metadata if line.startswith("Requires-Dist: ")
    ]
    assert [each for each in required if "extra ==" not in each] == ["numpy", "tomlkit"]
    assert {each.split(";")[0] for each in required if "extra ==" in each} >= {"hypothesis", "jinja2", "onnx"}


@pytest.mark.long
@pytest.mark.parametrize("torch", VERSIONS)
def test_it_works_in_an_empty_environment(
    wheel: Path, source: Path, torch: str, tmp_path: Path, has_simulator: bool
) -> None:
    """With libraries in Python, C++ and Triton; see ci/what_works.py. Each torch has another Python."""
    others = pythons() or [sys.executable]
    python = others[VERSIONS.index(torch) % len(others)]
    results, page = tmp_path / "what works.json", tmp_path / "what works.md"
    words = ["--python", python, "--torch", torch, "--results", results, "--page", page]
    tried = run(sys.executable, source / "ci" / "what_works.py", wheel, *words, folder=tmp_path)
    outcomes = {one["library"]: one for one in json.loads(results.read_text())}
    assert len(outcomes) == 3, tried
    if not has_simulator:
        outcomes = {name: one for name, one in outcomes.items() if "simulated" not in name}
    assert all(one["works"] for one in outcomes.values()), tried.stderr
    assert f"| {torch} | 3." in page.read_text()


@pytest.mark.exhaustive
def test_python_finds_its_engine(programs: Path, tmp_path: Path) -> None:
    call = "opgate.check(torch.ops.aten.relu.default, [(torch.randn(3, 4),)], checks=['value.layout'])"
    check = f"import torch, opgate; {call}"
    done(run(programs / "python", "-c", check, folder=tmp_path))


@pytest.mark.exhaustive
def test_a_project_is_built_against_the_wheel_and_its_ctests_pass(
    programs: Path, project: Path, opgate: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    prefix = done(opgate("--cmake-prefix", folder=project)).stdout.strip()
    python = f"-DPython_EXECUTABLE={programs / 'python'}"
    configure = ["-G", "Ninja", "-S", ".", "-B", "build", python, f"-DCMAKE_PREFIX_PATH={prefix}"]
    done(run(programs / "cmake", *configure, folder=project, path=programs))
    done(run(programs / "cmake", "--build", "build", folder=project, path=programs))
    native = ["-R", r"\.(value|effect|memory)\.cpu", "--no-tests=error"]
    tested = done(run(programs / "ctest", "--test-dir", "build", *native, folder=project, path=programs))
    assert re.search(r"100% tests passed.* out of 3\b", tested.stdout), tested.stdout

    # Without the spec: what a program calls is recorded and checked.
    (project / "program.py").write_text(PROGRAM)
    (project / "opgate.toml").unlink()
    done(opgate("record", "--", programs / "python", "program.py", folder=project))
    checked = done(
        opgate("run", "--check", "value", "effect", "fake", "opcheck", "--device", "cpu", folder=project)
    )
    assert re.search(r"^\d+ passed, 0 failed, 0 owed", checked.stdout, re.MULTILINE)


@pytest.mark.long
def test_the_simulated_device_is_in_it(wheel: Path, has_simulator: bool) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/lib/simulator/")[2] for name in archive.namelist()}
    assert names >= {"libcudart.so.13", "libcuda.so.1", "libnvidia-ml.so.1", "libnvrtc.so.13"}
    assert names >= {"libcudart.so.12", "libnvrtc.so.12", "ptxas", "ptxas-blackwell", "bin/nvidia-smi"}
    assert any(re.fullmatch(r"libopgate_simulator_aten-\d+\.\d+\.so", name) for name in names)


@pytest.mark.exhaustive
def test_a_cuda_library_is_checked_on_the_simulated_device(
    programs: Path, source: Path, tmp_path: Path, has_simulator: bool
) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    assert_it_is_checked_without_a_gpu(partial(run, path=programs), source, tmp_path)


@pytest.mark.exhaustive
def test_pytest_finds_the_plugin(programs: Path, tmp_path: Path) -> None:
    said = done(run(programs / "python", "-m", "pytest", "--help", folder=tmp_path)).stdout
    assert "--opgate" in said
