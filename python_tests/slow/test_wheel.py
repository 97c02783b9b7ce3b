"""`pip install .`: a wheel with everything, in an environment of its own, beside someone else's project."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from cuda_extension import assert_it_is_checked_without_a_gpu

VERSION = torch.__version__.partition("+")[0]
PROGRAM = """
import torch
torch.ops.load_library("build/libmy_ops.so")
torch.ops.my_ops.relu(torch.randn(4, 8))
"""

pytestmark = pytest.mark.exhaustive
needs_uv = pytest.mark.skipif(
    importlib.util.find_spec("uv") is None, reason="uv makes the environment; ci/gate and ci/test install it"
)


def run(*words: str | Path, folder: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs it, with the programs of `path` first, and nothing of the build that is tested."""
    hidden = ("PYTHONPATH", "OPGATE_PYTHON", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=2000,
        check=False,
    )


def done(result: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert result.returncode == 0, f"{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
    return result


@pytest.fixture(scope="module")
def wheel(source: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the wheel as pip does, but not optimised (half the time), and keeps the objects for later."""
    dist = tmp_path_factory.mktemp("dist")
    settings = [
        "--config-settings=cmake.build-type=Debug",
        "--config-settings=cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0",
    ]
    settings += [
        # One architecture, in PTX: the code of others takes time and is not used.
        "--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES=80-virtual",
        "--config-settings=build.tool-args=-j2",
        f"--config-settings=build-dir={build / 'wheel' / 'objects'}",
    ]
    command = [sys.executable, "-m", "pip", "wheel", source, "--no-deps", "--no-build-isolation", "-w", dist]
    (build / "wheel").mkdir(exist_ok=True)
    with (build / "wheel" / "lock").open("w") as lock:  # tests in another process may build it, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        done(run(*command, *settings, folder=build, path=Path(sys.executable).parent))
    (found,) = dist.glob("opgate-*.whl")
    return found


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an environment has its programs that holds torch and the wheel."""
    place = tmp_path_factory.mktemp("environments") / "a clean one"
    uv = [sys.executable, "-m", "uv"]
    done(run(*uv, "venv", "-q", "--python", sys.executable, place, folder=wheel.parent))
    python = place / "bin" / "python"
    wanted = [f"torch=={VERSION}", str(wheel), "pytest", "cmake", "ninja"]
    done(run(*uv, "pip", "install", "-q", "--python", python, *wanted, folder=wheel.parent))
    return place / "bin"


@pytest.fixture
def project(source: Path, tmp_path: Path) -> Path:
    return shutil.copytree(source / "fixtures" / "library", tmp_path / "someone else's library")


@pytest.fixture
def opgate(programs: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    return lambda *words, folder: run(programs / "opgate", *words, folder=folder, path=programs)


def test_name_and_metadata_say_which_torch_it_fits(wheel: Path) -> None:
    assert f"+torch{VERSION}-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode().splitlines()
    required = [
        line.removeprefix("Requires-Dist: ") for line in metadata if line.startswith("Requires-Dist: ")
    ]
    assert [each for each in required if "extra ==" not in each] == [
        "numpy",
        "tomlkit",
        f"torch=={VERSION}",
    ]
    assert {each.split(";")[0] for each in required if "extra ==" in each} >= {"hypothesis", "jinja2", "onnx"}


@needs_uv
def test_the_wheel_finds_its_engine_and_its_python(
    programs: Path, opgate: Callable[..., object], tmp_path: Path
) -> None:
    said = done(opgate("--version", folder=tmp_path))  # type: ignore[arg-type]
    assert re.fullmatch(rf"OpGate [\d.]+ \(torch {re.escape(VERSION)}\)\n", said.stdout)
    call = "opgate.check(torch.ops.aten.relu.default, [(torch.randn(3, 4),)], checks=['value.layout'])"
    check = f"import torch, opgate; {call}"
    done(run(programs / "python", "-c", check, folder=tmp_path))


@needs_uv
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


def test_the_simulated_device_is_in_it(wheel: Path, has_simulator: bool) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix("opgate/lib/simulator/") for name in archive.namelist()}
    assert names >= {"libcudart.so.13", "libcuda.so.1", "libnvidia-ml.so.1", "libnvrtc.so.13"}
    assert names >= {"libopgate_simulator_aten.so", "ptxas", "ptxas-blackwell", "bin/nvidia-smi"}


@needs_uv
def test_a_cuda_library_is_checked_on_the_simulated_device(
    programs: Path, source: Path, tmp_path: Path, has_simulator: bool
) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    assert_it_is_checked_without_a_gpu(partial(run, path=programs), source, tmp_path)


@needs_uv
def test_pytest_finds_the_plugin(programs: Path, tmp_path: Path) -> None:
    said = done(run(programs / "python", "-m", "pytest", "--help", folder=tmp_path)).stdout
    assert "--opgate" in said
