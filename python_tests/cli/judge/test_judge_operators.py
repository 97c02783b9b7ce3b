"""opgate judge with operators: as the reference, with the samples of a spec, and as a candidate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Judge
from harness import assert_refused

MODULE = """
import opgate
import torch

@torch.library.custom_op("judged::scaled", mutates_args=())
def scaled(x: torch.Tensor, y: torch.Tensor, factor: float = 2.0, *, shift: int = 0) -> torch.Tensor:
    return x * y * factor + shift

@torch.library.custom_op("judged::bare", mutates_args=())
def bare(x: torch.Tensor) -> torch.Tensor:
    return x * x + 1

@opgate.spec("judged::scaled")
def _(spec):
    spec.dtypes(*opgate.floating())
    spec.reference(lambda x, y, factor, shift: x * y * factor + shift)
    spec.accuracy(opgate.ulps(4))
    for shape in [(7,), (4, 8), (20, 30)]:
        spec.sample(opgate.uniform(*shape), opgate.uniform(*shape), 3.0, 1)
"""
CANDIDATES = """
import torch
def fused(x, y, factor, shift):
    return torch.addcmul(torch.full((), float(shift)), x, y, value=factor)
def large_alone(x, y, factor, shift):
    return fused(x, y, factor, shift) if x.numel() > 100 else x * y
def square(x):
    return torch.addcmul(torch.ones(()), x, x)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "judged_module.py").write_text(MODULE)
    (tmp_path / "candidates.py").write_text(CANDIDATES)
    (tmp_path / "inputs.py").write_text("import torch\ndef get_inputs():\n    return [torch.randn(5, 6)]\n")
    (tmp_path / "opgate.toml").write_text('python = ["judged_module"]\npython_path = ["."]\n')
    return tmp_path


def test_the_samples_of_a_spec_are_among_the_samples(judge: Judge, folder: Path) -> None:
    words = ["candidates.py:fused", "candidates.py:large_alone", "--reference", "judged::scaled"]
    run = judge(*words, "--no-compile", "--json", folder=folder)
    right, wrong = (json.loads(line) for line in run.stdout.splitlines())
    assert right["verdict"] == "correct", right
    assert right["speed"]["reference"]["ratio"] > 0
    assert wrong["verdict"] == "wrong"
    assert [each["sample"].rpartition(" ")[2] for each in wrong["findings"]] == ["spec"]


def test_an_operator_without_a_spec_needs_inputs(judge: Judge, folder: Path) -> None:
    words = ["candidates.py:square", "--reference", "judged::bare", "--no-speed"]
    assert_refused(judge(*words, folder=folder), "judged::bare has no spec here", "--inputs")
    run = judge(*words, "--inputs", "inputs.py", folder=folder)
    assert run.returncode == 0, run
    assert_refused(
        judge("candidates.py:square", "--reference", "judged::none", folder=folder), "judged::none"
    )


def test_a_library_is_a_candidate(judge: Judge, build: Path, tmp_path: Path) -> None:
    """The operator is judged by itself, and beside another one with the same arguments."""
    library, specs = build / "lib" / "libopgate_ops.so", build / "lib" / "libopgate_ops_specs.so"
    words = ["--reference", "opgate_ops::gelu_tanh", "--library", library, "--spec", specs, "--no-speed"]
    run = judge(f"{library}:opgate_ops::gelu_tanh", *words, folder=tmp_path)
    assert run.returncode == 0, run
    (tmp_path / "relu.py").write_text("import torch\nrelu = torch.relu\n")
    assert judge("relu.py:relu", *words, folder=tmp_path).returncode == 1
    assert_refused(judge(str(library), *words, folder=tmp_path), "which operator of", "NAMESPACE::NAME")
