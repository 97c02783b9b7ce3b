"""Functions that no dispatcher knows, of an extension module and of autograd, are recorded and run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import Completed, OpGate, read_results

WRONG = {
    "strangelib._kernels:square",
    "strangelib._kernels:shifted",
    "strangelib._kernels:row_ends",
    "strangelib._kernels:Window().differences",
    "strangelib._kernels:scaled_cotangent",  # a part of the backward pass of Scaled, recorded on its own
    "strangelib:Cube",
    "strangelib:Scaled",
}
RIGHT = {
    "strangelib._kernels:scaled_add",
    "strangelib._kernels:halve_",
    "strangelib._kernels:pooled",
    "strangelib._kernels:Window().sums",
    "strangelib._kernels:masked",
    "strangelib:Twice",
}


BY_NVRTC = '''
import functools
import torch

SOURCE = """
extern "C" __global__ void add_one(const float* x, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = x[i] + 1;
}
extern "C" __global__ void twice(const float* x, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * x[i];
}
"""


@functools.cache
def kernel(name):
    return torch.cuda._compile_kernel(SOURCE, name)


def launched(name, x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel() > 0:
        with torch.cuda.device(x.device):
            kernel(name)(((x.numel() + 255) // 256, 1, 1), (256, 1, 1), (x, out, x.numel()))
    return out


def add_one(x):
    return launched("add_one", x)


def twice(x):
    return launched("twice", x)
'''


CLASSES = """
import dataclasses
import enum
import typing

import torch


class Plain:
    def __init__(self, by: int, *, scale: float = 1.0):
        self.by, self.scale = by, scale

    def times(self, x):
        return x * self.by * self.scale


class Counting(Plain):
    def __init__(self, by):
        super().__init__(by)
        self.calls = 0

    def times(self, x):
        self.calls += 1
        return super().times(x)


class Pair(typing.NamedTuple):
    by: int
    other: int

    def times(self, x):
        return x * self.by


@dataclasses.dataclass(frozen=True, slots=True)
class Slots:
    by: int

    def times(self, x):
        return x * self.by


class New:
    def __new__(cls, by):
        made = super().__new__(cls)
        made.by = by
        return made

    def times(self, x):
        return x * self.by


class Kind(enum.Enum):
    TWO = 2

    def times(self, x):
        return x * self.value


class Module(torch.nn.Module):
    def __init__(self, by):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3) * by)

    def times(self, x):
        return x * self.weight
"""


@pytest.fixture(scope="module")
def folder(build: Path, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with the library, which knows nothing of OpGate, and its tests."""
    place = tmp_path_factory.mktemp("functions") / "a user's folder"
    shutil.copytree(source / "fixtures" / "functions", place)
    for kernels in (build / "functions").glob("_kernels*.so"):
        shutil.copy(kernels, place / "strangelib")
    return place


@pytest.fixture(scope="module")
def recorded(opgate: OpGate, folder: Path) -> Completed:
    """What `opgate record` printed for the library's tests."""
    told = opgate(
        "record", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=folder
    )
    assert told.returncode == 0, told.stderr
    return told


@pytest.fixture(scope="module")
def ran(opgate: OpGate, folder: Path, recorded: Completed) -> Completed:
    """What `opgate run` printed for the recorded calls."""
    assert recorded.returncode == 0
    return opgate("run", folder=folder)


def schema_of(folder: Path, name: str) -> str:
    """The schema of a function, as its recording has it."""
    file = folder / "recorded" / f"{name.replace(':', '.')}.json"
    return json.loads(file.read_text())["schema"]


def test_all_functions_that_take_tensors_are_recorded(recorded: Completed, folder: Path) -> None:
    """Those of the extension module and the autograd Functions; a part of a recorded call is not."""
    for name in WRONG | RIGHT:
        assert name in recorded.stdout
    assert "version" not in recorded.stdout
    assert "recorded: 16 calls of 13 functions" in recorded.stdout, recorded.stdout


def test_schemas_say_what_the_calls_have_shown(recorded: Completed, folder: Path) -> None:
    """Defaults from the docstring, an argument that was once left out, and one that is written."""
    assert recorded.returncode == 0
    kernels = "strangelib._kernels"
    assert schema_of(folder, f"{kernels}:scaled_add") == (
        f"{kernels}:scaled_add(Tensor x, Tensor y, float alpha=1) -> Tensor"
    )
    assert schema_of(folder, f"{kernels}:masked") == (
        f"{kernels}:masked(Tensor x, Tensor? mask=None) -> Tensor"
    )
    assert schema_of(folder, f"{kernels}:halve_") == f"{kernels}:halve_(Tensor(a!) x, int times=1) -> ()"
    assert schema_of(folder, f"{kernels}:Window().sums") == (
        f"{kernels}:Window().sums(int self_width, float self_scale, Tensor x) -> Tensor"
    )
    assert "of an object whose `widen` was called before" in recorded.stdout
    assert schema_of(folder, f"{kernels}:pooled") == f"{kernels}:pooled(Tensor[] arg0, int[] arg1) -> Tensor"


def test_a_function_that_writes_an_argument_is_named(recorded: Completed) -> None:
    lines = recorded.stdout.splitlines()
    writing = [index for index, line in enumerate(lines) if "writes `" in line]
    assert [lines[index].strip() for index in writing] == ["writes `x`: this is recorded as meant"]
    assert lines[writing[0] - 1].split()[0] == "strangelib._kernels:halve_"


@pytest.mark.long
def test_wrong_functions_are_defects_and_right_ones_are_silent(ran: Completed, folder: Path) -> None:
    """Each wrong one in its own way, and so is what one of them calls."""
    cases = read_results(folder / ".opgate").cases.values()
    broken = {row["case"].partition("/")[0] for row in cases if row["verdict"] not in ("pass", "owed")}
    assert broken == WRONG, ran.stdout
    assert ran.returncode == 1
    assert "not covered" not in ran.stdout


@pytest.mark.long
def test_a_method_is_repeated_with_an_object_that_is_made_anew(
    opgate: OpGate, folder: Path, ran: Completed
) -> None:
    """By a script without OpGate, which fails as the case does, and as a draft of an operator."""
    assert ran.returncode == 1
    case = "strangelib._kernels:Window().differences/float32/1,6/x=stepped/cpu/value.layout"
    script = opgate("repro", "--python", case, folder=folder).stdout
    assert "Window(width=self_width).differences(x)" in script
    (folder / "script.py").write_text(script)
    repeated = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True)
    assert repeated.returncode == 1
    assert "Tensor-likes are not" in repeated.stderr
    made = opgate("init", "strangelib._kernels", "--register", folder=folder)
    assert made.returncode == 0, made
    (draft,) = folder.glob("opgate_specs/*Window_differences_operator.py")
    assert (
        "function = lambda self_width, x: strangelib._kernels.Window(width=self_width).differences(x)\n"
    ) in draft.read_text()
    words = ["--op", "strangelib::*Window_differences", "--check", "fake", "opcheck"]
    run = opgate("run", *words, "--output", "of draft", folder=folder)
    assert run.returncode == 0, run


@pytest.mark.long
def test_classes_of_every_kind_work_while_their_methods_are_recorded(opgate: OpGate, tmp_path: Path) -> None:
    """The others have no constructor, no weak references, or parameters that are drawn."""
    (tmp_path / "classes.py").write_text(CLASSES)
    (tmp_path / "program.py").write_text(
        "import classes, torch\n"
        "x = torch.arange(3.0)\n"
        "others = classes.Pair(2, 3), classes.Slots(2), classes.New(2), classes.Kind.TWO\n"
        "for made in (classes.Plain(2), *others):\n"
        "    assert made.times(x).tolist() == [0, 2, 4], made\n"
        "    assert made.times(x=x).tolist() == [0, 2, 4], made\n"
        "assert classes.Counting(2).times(x).tolist() == [0, 2, 4]\n"
        "assert classes.Module(2).times(x).shape == (3,)\n"
    )
    told = opgate("record", "--function", "classes:*", "--", sys.executable, "program.py", folder=tmp_path)
    assert told.returncode == 0, told
    assert "classes:Plain().times " in told.stdout
    assert "classes:Counting().times " in told.stdout
    assert "Pair" not in told.stdout
    ran = opgate("run", "--check", "value", "effect", "memory", folder=tmp_path)
    assert ran.returncode == 0, ran


@pytest.mark.long
def test_kernels_that_nvrtc_compiles_run_on_the_simulated_device(
    opgate: OpGate, tmp_path: Path, has_simulator: bool
) -> None:
    """A kernel without a bound is found at its line in the text that was compiled."""
    if not has_simulator:
        pytest.skip("this build has no CUDA")
    (tmp_path / "compiled.py").write_text(BY_NVRTC)
    (tmp_path / "program.py").write_text(
        "import compiled, torch\n"
        "x = torch.rand(2, 256, device='cuda')\n"
        "assert torch.equal(compiled.add_one(x), x + 1)\n"
        "assert torch.equal(compiled.twice(x), 2 * x)\n"
    )
    alone = opgate("sim", "--seconds", "0", "--", sys.executable, "program.py", folder=tmp_path)
    assert alone.returncode == 0, alone
    assert alone.stderr.rstrip().endswith("nothing found"), "NVRTC asks for what it does without"
    words = ["--sim", "--function", "compiled:add_one", "compiled:twice", "--", sys.executable, "program.py"]
    told = opgate("record", *words, folder=tmp_path)
    assert "recorded: 2 calls of 2 functions" in told.stdout, told
    ran = opgate("run", "--check", "value", "effect.mutation", "explore.samples", folder=tmp_path)
    defects = read_results(tmp_path / ".opgate").defects
    assert [defect["op"] for defect in defects] == ["compiled:twice"], ran.stdout
    assert "twice.cu:8\n" in ran.stdout


def test_a_module_that_is_loaded_from_a_file_is_found_again(
    opgate: OpGate, folder: Path, tmp_path: Path
) -> None:
    """As cpp_extension.load does it: no package, and libraries that only torch has loaded."""
    (kernels,) = (folder / "strangelib").glob("_kernels*.so")
    (tmp_path / "program.py").write_text(
        "import importlib.util, torch\n"
        f"spec = importlib.util.spec_from_file_location('_kernels', {str(kernels)!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "x = torch.rand(4, 3)\n"
        "assert torch.equal(module.scaled_add(x, x), 2 * x)\n"
    )
    told = opgate("record", "--", sys.executable, "program.py", folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "left out" not in told.stdout
    ran = opgate("run", "--check", "value.layout", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert read_results(tmp_path / ".opgate").of("_kernels:scaled_add")
