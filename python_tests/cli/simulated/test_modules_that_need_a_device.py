"""Modules that look for a GPU when they are imported, on a machine without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import OpGate, assert_refused, read_results

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime", "without_gpu")

MODULE = """
import opgate
import torch

if not torch.cuda.is_available():
    raise RuntimeError("no device was found")
library = torch.library.Library("needs", "DEF")
library.define("halved(Tensor x) -> Tensor")
library.impl("halved", lambda x: x / 2, "CompositeExplicitAutograd")
library.impl("halved", lambda x: torch.empty_like(x), "Meta")

@opgate.spec("needs::halved")
def _(spec):
    spec.dtypes(torch.float32)
    spec.sample(opgate.uniform(5, 7))
    spec.reference(lambda x: x / 2)
    spec.accuracy(opgate.exact())
"""
SILU = """
library = torch.library.Library("aten", "IMPL")
library.impl("silu", lambda x: x * torch.sigmoid(x), "CUDA")
"""
NOTE = (
    "Python has the simulated device for all calls, because without a GPU: Python module needs_device cannot"
)


@pytest.fixture
def without_gpu(has_gpu: bool) -> None:
    if has_gpu:
        pytest.skip("there is a GPU")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "needs_device.py").write_text(MODULE)
    (tmp_path / "opgate.toml").write_text('python = ["needs_device"]\npython_path = ["."]\n')
    return tmp_path


def test_they_are_imported_with_the_simulated_device(opgate: OpGate, project: Path) -> None:
    for _ in range(2):  # the second run has a catalog
        completed = opgate("run", "--check", "value.reference", "value.layout", "vmap.equal", folder=project)
        assert completed.returncode == 0, completed
        assert completed.stderr.count(NOTE) == 1
        assert "no device was found" in completed.stderr
        cases = read_results(project / ".opgate").cases
        verdicts: dict[str, set[str]] = {case.split("/")[4]: set() for case in cases}
        for case, line in cases.items():
            verdicts[case.split("/")[4]].add(line["verdict"])
        assert verdicts == {"cpu": {"pass"}, "sim": {"pass"}, "cuda": {"owed"}}
    assert (
        opgate("repro", "needs::halved/float32/5x7/contiguous/cpu/value.reference", folder=project).returncode
        == 0
    )
    assert "needs::halved" in opgate("list", "ops", folder=project).stdout


def test_a_module_that_cannot_be_imported_there_either_is_reported_as_before(
    opgate: OpGate, project: Path
) -> None:
    (project / "needs_device.py").write_text('raise RuntimeError("broken")\n')
    assert_refused(opgate("run", folder=project), "Python module needs_device cannot be imported", "broken")


def test_kernels_over_torch_are_found_that_are_registered_for_a_device_alone(
    opgate: OpGate, project: Path
) -> None:
    pytest.importorskip("expecttest")
    text = MODULE.partition("library =")[0]
    text += SILU
    (project / "needs_device.py").write_text(text)
    completed = opgate("record", "--over", "CUDA", folder=project)
    assert completed.returncode == 0, completed
    assert "aten::silu at CUDA: " in completed.stdout
