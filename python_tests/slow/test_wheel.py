"""The wheel of `ci/wheel`: one file, in environments of several Pythons, beside someone else's project."""

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

SOURCE = Path(__file__).resolve().parent.parent.parent
VERSION = torch.__version__.partition("+")[0]
PROGRAM = """
import torch
torch.ops.load_library("build/libmy_ops.so")
torch.ops.my_ops.relu(torch.randn(4, 8))
"""

# A library of one operator in Python, whose kernel reads a transposed argument as if it were dense.
OPERATOR = """
import torch

@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x.as_strided(x.shape, torch.empty(x.shape).stride()) * 2

@twice.register_fake
def _(x):
    return torch.empty_like(x)
"""


def run(
    *words: str | Path, folder: Path, path: Path | None = None, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs it, with the programs of `path` first, and nothing of the build that is tested."""
    hidden = ("PYTHONPATH", "OPGATE_PYTHON", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**environment, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=2000,
        check=False,
    )


def done(result: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert result.returncode == 0, f"{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
    return result


def pythons() -> list[str]:
    """Other Pythons of this machine for which the wheel has a binding, by their paths."""
    command = ["bash", "-c", "source ci/lib.sh; pythons_of_wheel"]
    listed = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=True).stdout
    by_minor = dict(line.split(" ", 1) for line in listed.splitlines())
    return [path for minor, path in by_minor.items() if int(minor) != sys.version_info.minor]


@pytest.fixture(scope="session")
def wheel(source: Path, build: Path) -> Path:
    """The wheel for the torch that is tested. What is compiled already is used again."""
    if importlib.util.find_spec("uv") is None:
        pytest.skip("uv makes environments; ci/gate and ci/test install it")
    (build / "wheel").mkdir(exist_ok=True)
    with (build / "wheel" / "lock").open("w") as lock:  # tests in another process may build it, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        done(run(source / "ci" / "wheel", "--torch", VERSION, folder=source))
    (found,) = (source / "build" / "wheels").glob("opgate-*.whl")
    return found


def environment(wheel: Path, place: Path, python: str, *further: str) -> Path:
    """Where an environment has its programs that holds torch and the wheel, and no compiler of its own."""
    uv = [sys.executable, "-m", "uv"]
    done(run(*uv, "venv", "-q", "--python", python, place, folder=wheel.parent))
    wanted = [f"torch=={VERSION}", f"{wheel}", *further]
    # --compile-bytecode: otherwise the first import of torch takes half a minute.
    install = ["pip", "install", "-q", "--compile-bytecode", "--python", place / "bin" / "python"]
    done(run(*uv, *install, *wanted, folder=wheel.parent))
    return place / "bin"


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("environments") / "a clean one"
    return environment(wheel, place, sys.executable, "pytest", "cmake", "ninja")


@pytest.fixture
def project(source: Path, tmp_path: Path) -> Path:
    return shutil.copytree(source / "fixtures" / "library", tmp_path / "someone else's library")


@pytest.fixture
def opgate(programs: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    return lambda *words, folder: run(programs / "opgate", *words, folder=folder, path=programs)


@pytest.mark.long
def test_it_is_one_file_for_all_pythons_and_requires_no_torch(wheel: Path) -> None:
    assert re.fullmatch(r"opgate-[\d.]+-py3-none-manylinux_2_28_x86_64\.whl", wheel.name)
    release = VERSION.rpartition(".")[0]
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (name,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode().splitlines()
    bindings = [name for name in names if name.startswith(f"opgate/built/torch-{release}/_engine.")]
    assert len(bindings) == 1 + len(pythons())
    required = [
        line.removeprefix("Requires-Dist: ") for line in metadata if line.startswith("Requires-Dist: ")
    ]
    assert [each for each in required if "extra ==" not in each] == ["numpy", "tomlkit"]
    assert {each.split(";")[0] for each in required if "extra ==" in each} >= {"hypothesis", "jinja2", "onnx"}


@pytest.mark.long
@pytest.mark.parametrize("python", pythons()[-1:] or [sys.executable])
def test_a_mistake_in_an_operator_is_found_without_a_compiler(
    wheel: Path, python: str, tmp_path: Path
) -> None:
    programs = environment(wheel, tmp_path / "an environment", python)
    project = tmp_path / "my project"
    project.mkdir()
    (project / "mine.py").write_text(OPERATOR)
    (project / "use.py").write_text("import torch, mine\nprint(mine.twice(torch.ones(3, 4)).sum())\n")
    nowhere = {"CXX": "/no compiler", "PATH": f"{programs}:/usr/bin:/bin"}
    opgate = partial(run, programs / "opgate", folder=project, variables=nowhere)
    assert re.fullmatch(rf"OpGate [\d.]+ \(torch {re.escape(VERSION)}\)\n", done(opgate("--version")).stdout)
    done(opgate("record", "--", programs / "python", "use.py"))
    found = opgate("run", "--device", "cpu")
    assert found.returncode == 1, found
    assert "`x` is read as if it were dense" in found.stdout
    assert "no compiler" in found.stdout or "owed" in found.stdout


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
