"""A fault on the simulated device, in the Python worker, ends with the call that caused it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, Results, read_results

# scale_by_host_pointer reads a host pointer in each call, vectors_of_four a misaligned address in some.
WRONG = ["scale_by_host_pointer", "vectors_of_four"]
RIGHT = ["aligned_vectors_of_four", "any_strides_on_cuda", "whole_warps_only", "workspace_of_the_call"]


@pytest.fixture(scope="module")
def results(opgate: OpGate, new_project: Callable[..., Path]) -> Results:
    folder = new_project(libraries=["libopgate_defects.so"])
    checks = ["--check", "aoti", "export", "opcheck"]
    ran = opgate("run", "--device", "sim", "--op", *WRONG, *RIGHT, *checks, folder=folder)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return read_results(folder / ".opgate")


@pytest.mark.long
@pytest.mark.parametrize("op", WRONG)
def test_the_faulty_operator_is_named(results: Results, op: str) -> None:
    said = [str(line) for line in results.of(op).values() if line["verdict"] != "pass"]
    assert any("the simulated device failed" in line for line in said), said


@pytest.mark.parametrize("op", RIGHT)
def test_its_neighbours_pass(results: Results, op: str) -> None:
    verdicts = {case: line["verdict"] for case, line in results.of(op).items()}
    assert verdicts
    assert set(verdicts.values()) == {"pass"}, verdicts
