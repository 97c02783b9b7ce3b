"""Samples that cannot distinguish a right operator from one that computes nothing are noted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate

SPECS = """
import opgate
import torch


def relu_of_products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * y).clamp(min=0)


for name, samples in {
    "blind": [(opgate.uniform(4, 6, low=-2, high=-1), opgate.positive(4, 6))] * 2
    + [(opgate.uniform(3), opgate.uniform(3))],
    "whole": [(opgate.values([1, 2, 3], shape=(3,)), opgate.values([4, 5, 6], shape=(3,)))],
    "seeing": [(opgate.uniform(4, 6), opgate.uniform(4, 6)), (opgate.uniform(0, 6), opgate.uniform(0, 6))],
}.items():
    operator = torch.library.custom_op(f"sampled::{name}", relu_of_products, mutates_args=())
    operator.register_fake(lambda x, y: x.new_empty(x.shape))

    @opgate.spec(f"sampled::{name}")
    def promise(spec, samples=samples):
        spec.dtypes(torch.float32, torch.float16, device="cpu").accuracy(opgate.ulps(1))
        spec.reference(relu_of_products)
        for number, sample in enumerate(samples):
            spec.sample(*sample, named=f"sample {number}")
"""


@pytest.fixture(scope="module")
def noted(opgate: OpGate, new_project: Callable[..., Path]) -> list[str]:
    """The notes of a run without defects."""
    folder = new_project(libraries=[], specs=[], python=["weak_specs"], python_path=["."])
    (folder / "weak_specs.py").write_text(SPECS)
    run = opgate("run", "--check", "value.reference", folder=folder)
    assert run.returncode == 0, run
    notes = run.stdout.partition("notes\n")[2]
    return [line.strip() for line in notes.partition("\n\n")[0].splitlines()]


def test_an_answer_that_most_samples_accept_is_noted(noted: list[str]) -> None:
    about = [line for line in noted if line.startswith("blind: ")]
    assert len(about) == 1, noted
    assert " from zeros in 4 of 6 calls" in about[0]


def test_whole_numbers_cannot_show_a_narrow_computation(noted: list[str]) -> None:
    about = [line for line in noted if line.startswith("whole: ")]
    assert len(about) == 1, noted
    assert " from results rounded to bfloat16 in all calls of float32" in about[0]
    assert "zeros" not in about[0]


def test_samples_that_see_are_not_noted(noted: list[str]) -> None:
    assert not [line for line in noted if "seeing" in line]
