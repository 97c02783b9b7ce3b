"""opgate repro --python for each kind of library: the script shows the defect without OpGate."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, read_results

OPERATORS = '''
"""Operators in Python, each wrong in one way; imports no OpGate."""

import torch


def operator(name, compute, fake=lambda x: x.new_empty(x.shape), backward=None):
    made = torch.library.custom_op(f"kinds::{name}", compute, mutates_args=())
    made.register_fake(fake)
    if backward is not None:
        made.register_autograd(lambda ctx, grad: backward(grad))


def doubled(x: torch.Tensor) -> torch.Tensor:
    return (2 * x).contiguous()


def dense(x: torch.Tensor) -> torch.Tensor:
    return 2 * x.as_strided(x.shape, torch.empty(x.shape).stride())


def written(x: torch.Tensor) -> torch.Tensor:
    return x.mul_(2).clone(memory_format=torch.contiguous_format)


def pairs(x: torch.Tensor) -> torch.Tensor:
    result = torch.zeros(x.shape)
    even = x.shape[0] // 2 * 2
    result[:even] = 2 * x[:even]
    return result


def of_dense(grad):
    return 2 * grad.as_strided(grad.shape, torch.empty(grad.shape).stride())


operator("dense", dense)
operator("written", written)
operator("another_fake", doubled, lambda x: x.new_empty(x.shape).t())
operator("another_factor", doubled, backward=lambda grad: 3 * grad)
operator("dense_gradient", doubled, backward=of_dense)
operator("pairs", pairs)
'''

SPECS = """
import opgate
import torch
import wrong_operators

for name in ("dense", "written", "another_fake", "another_factor", "dense_gradient", "pairs"):

    @opgate.spec(f"kinds::{name}")
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").reference(lambda x: 2 * x)
        spec.accuracy(opgate.exact()).sample(opgate.uniform(4, 6))
        if "gradient" in name or "factor" in name:
            spec.promises("differentiable")
"""

EXTENSION = """
#include <ATen/ops/empty.h>
#include <torch/library.h>

at::Tensor twice(const at::Tensor& x) {
  at::Tensor result = at::empty(x.sizes(), x.options());
  const float* from = x.const_data_ptr<float>();  // the mistake: as if x were dense
  for (int64_t i = 0; i < x.numel(); ++i) result.mutable_data_ptr<float>()[i] = 2 * from[i];
  return result;
}

TORCH_LIBRARY(kinds_cpp, m) { m.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(kinds_cpp, CPU, m) { m.impl("twice", &twice); }
"""

SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="stranger",
    ext_modules=[CppExtension("stranger", ["stranger.cpp"], extra_compile_args=["-O0"])],
    cmdclass={"build_ext": BuildExtension},
)
"""

OF_EXTENSION = """
import opgate
import torch


@opgate.spec("kinds_cpp::twice")
def promise(spec):
    spec.dtypes(torch.float32, device="cpu").draft().sample(opgate.uniform(4, 6))
"""


def run_script(folder: Path, text: str) -> Completed:
    """Runs the script in a process whose Python finds no OpGate."""
    (folder / "script.py").write_text(text)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "script.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_operators_of_a_python_module(opgate: OpGate, new_project: Callable[..., Path]) -> None:
    folder = new_project(libraries=[], specs=[], python=["kinds_specs"], python_path=["."])
    (folder / "wrong_operators.py").write_text(OPERATORS)
    (folder / "kinds_specs.py").write_text(SPECS)
    expected = {
        ("dense", "value.layout"): "AssertionError: Tensor-likes are not",
        ("written", "effect.mutation"): "AssertionError: bytes of an input's storage",
        ("another_fake", "fake.metadata"): "AssertionError: fake kernel: ",
        ("another_factor", "grad.reference"): "GradcheckError",
        ("dense_gradient", "grad.layout"): "AssertionError: Tensor-likes are not",
        ("pairs", "explore.samples"): "value.reference",
    }
    operators, checks = (list(dict.fromkeys(each)) for each in zip(*expected, strict=True))
    # One run draws samples, and the other does not, which takes most of the time.
    output = {check: folder / ("drawn" if check == "explore.samples" else "all") for check in checks}
    opgate("run", "--op", "pairs", "--check", checks.pop(), "--output", folder / "drawn", folder=folder)
    opgate("run", "--op", *operators, "--check", *checks, "--output", folder / "all", folder=folder)
    failed: dict[tuple[str, str], str] = {}
    for results in map(read_results, set(output.values())):
        for case, line in results.cases.items():
            which = (case.partition("/")[0], case.rpartition("/")[2])
            if line["verdict"] == "fail" and (which not in failed or "=stepped/" in case):
                failed[which] = case
    for which, shown in expected.items():
        # A smaller call takes three further runs, and is the same for each kind of library.
        keep = [] if which[1] in ("explore.samples", "value.layout") else ["--keep"]
        words = ["--python", failed[which], *keep, "--output", output[which[1]]]
        repro = opgate("repro", *words, folder=folder)
        assert repro.returncode == 1, repro
        assert "import opgate" not in repro.stdout
        ran = run_script(folder, repro.stdout)
        if which[1] == "explore.samples":  # the reference is a function of the spec
            assert "torch.ones((1, 1))" in repro.stdout, repro.stdout
            assert (ran.returncode, ran.stdout) == (0, "tensor([[0.]])\n"), (repro.stdout, ran)
            assert shown in repro.stdout.splitlines()[0]
        else:
            assert ran.returncode == 1, (repro.stdout, ran)
            assert shown in ran.stderr, (repro.stdout, ran)


@pytest.mark.long
def test_an_extension_that_setup_py_builds(
    opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "stranger.cpp").write_text(EXTENSION)
    (tmp_path / "setup.py").write_text(SETUP)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    (library,) = tmp_path.glob("stranger*.so")
    folder = new_project(libraries=[str(library)], specs=[], python=["kinds_specs"], python_path=["."])
    (folder / "kinds_specs.py").write_text(OF_EXTENSION)
    opgate("run", "--check", "value.layout", folder=folder)
    cases = read_results(folder / ".opgate").cases.items()
    failed = [case for case, line in cases if line["verdict"] == "fail"]
    repro = opgate("repro", "--python", failed[0], folder=folder)
    assert (repro.returncode, repro.stderr) == (1, ""), repro
    ran = run_script(folder, repro.stdout)
    assert ran.returncode == 1, (repro.stdout, ran)
    assert "AssertionError: Tensor-likes are not" in ran.stderr, (repro.stdout, ran)
