"""Modules that look at CUDA while they are imported: in a process forked later, torch may use no device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, Results, read_results

MODULE = """
import os

import opgate
import torch

print("imported", file=open(os.environ["SEEN"], "a"))
HAS_CUDA = torch.cuda.is_available() and torch.cuda.device_count() > 0
if HAS_CUDA and os.environ.get("USES"):
    IDENTITY = torch.eye(3, device="cuda")


@torch.library.custom_op("asking::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    if x.is_cuda and not HAS_CUDA:
        raise RuntimeError("this package was imported without CUDA")
    return x + x


twice.register_fake(torch.empty_like)


@opgate.spec("asking::twice")
def promise(spec):
    spec.dtypes(torch.float32)
    spec.accuracy(opgate.exact())
    spec.reference(lambda x: 2 * x)
    spec.sample(opgate.uniform(3))
"""


@pytest.fixture
def run(
    opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path, has_simulator: bool
) -> Callable[..., Results]:
    if not has_simulator:
        pytest.skip("no simulated device here")
    folder = new_project(python=["asking"], python_path=["."])
    (folder / "asking.py").write_text(MODULE)

    def call(**more: str) -> Results:
        environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "SEEN": str(tmp_path / "seen")}
        words = ["--device", "sim", "--jobs", "1", "--check", "opcheck", "value.reference", "export.graph"]
        opgate("run", *words, folder=folder, environment=environment | more)
        return read_results(folder / ".opgate")

    return call


def imports(tmp_path: Path) -> int:
    return len((tmp_path / "seen").read_text().splitlines())


def test_a_module_may_ask_whether_there_is_a_device(run: Callable[..., Results], tmp_path: Path) -> None:
    # Hiding all GPUs hides no simulated device.
    results = run(CUDA_VISIBLE_DEVICES="")
    assert {line["verdict"] for line in results.of("twice").values()} == {"pass"}
    assert imports(tmp_path) == 2, (
        "one process plans without devices, and from another one workers are forked"
    )


@pytest.mark.long
def test_where_a_module_uses_a_device_workers_import_for_themselves(
    run: Callable[..., Results], tmp_path: Path
) -> None:
    results = run(USES="1")
    assert {line["verdict"] for line in results.of("twice").values()} == {"pass"}
    assert imports(tmp_path) > 2
