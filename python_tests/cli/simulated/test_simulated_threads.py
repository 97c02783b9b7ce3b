"""Workers that run beside others leave the other cores to them; one that is alone may use all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, read_results

SPEC = """
import os

import opgate
import torch


def twice(x: torch.Tensor) -> torch.Tensor:
    if x.is_cuda:
        print(os.environ.get("OPGATE_SIM_THREADS"), file=open(os.environ["SEEN"], "a"))
    return x * 2


op = torch.library.custom_op("threads::twice", twice, mutates_args=())
op.register_fake(torch.empty_like)


@opgate.spec("threads::twice")
def promise(spec):
    spec.dtypes(torch.float32).draft()
    for size in (3, 4, 5, 6, 7, 8, 9, 10):
        spec.sample(opgate.uniform(size))
"""


@pytest.mark.parametrize(
    ("jobs", "given", "seen"),
    [
        ("1", {}, {"None"}),
        ("2", {}, {"1"}),
        ("2", {"OPGATE_SIM_THREADS": "3"}, {"3"}),
    ],
    ids=["alone", "two workers", "as the environment says"],
)
def test_threads_of_a_worker(
    opgate: OpGate,
    new_project: Callable[..., Path],
    tmp_path: Path,
    has_simulator: bool,
    jobs: str,
    given: dict[str, str],
    seen: set[str],
) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    folder = new_project(python=["threads_specs"], python_path=["."])
    (folder / "threads_specs.py").write_text(SPEC)
    environment = {"SEEN": str(tmp_path / "seen")} | given
    words = ["--device", "sim", "--jobs", jobs, "--check", "value.layout"]
    run = opgate("run", *words, folder=folder, environment=environment)
    assert run.returncode == 0, run
    cases = read_results(folder / ".opgate").of("twice")
    assert {line["verdict"] for line in cases.values()} == {"pass"}
    assert set((tmp_path / "seen").read_text().split()) == seen
