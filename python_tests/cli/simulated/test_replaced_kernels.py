"""Kernels that a module registers over torch's own, from the samples of torch's tests alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness import OpGate, read_results

pytest.importorskip("expecttest")
pytestmark = [pytest.mark.long, pytest.mark.usefixtures("needs_simulated_runtime")]

BEGIN = """
import torch

library = torch.library.Library("aten", "IMPL")
aten = torch.ops.aten
"""
RIGHT = (
    BEGIN
    + """
def silu(x):
    return x * torch.sigmoid(x)

def hypot_out(x, y, *, out):
    return out.resize_(torch.broadcast_shapes(x.shape, y.shape)).copy_(torch.hypot(x, y))

def atan2(x, y):
    dtype = torch.result_type(x, y)
    dtype = dtype if dtype.is_floating_point else torch.float32
    return aten.atan2.out(x, y, out=torch.empty(0, device=x.device, dtype=dtype))
"""
)
WRONG = (
    BEGIN
    + """
def silu(x):  # its strides are ignored
    y = x.as_strided(x.shape, torch.empty(x.shape, device="meta").stride())
    return y * torch.sigmoid(y)

def hypot_out(x, y, *, out):  # it is not resized
    return out.copy_(torch.hypot(x, y))

def atan2(x, y):  # the dtype is that of the first argument
    dtype = x.dtype if x.dtype.is_floating_point else torch.bfloat16
    return aten.atan2.out(x, y, out=torch.empty(0, device=x.device, dtype=dtype))
"""
)
END = """
library.impl("silu", silu, "CUDA")
library.impl("hypot.out", hypot_out, "CUDA")
library.impl("atan2", atan2, "CUDA")
"""
CHECKS = ("--check", "value.device", "value.layout", "fake.metadata", "effect", "registration")


def judged(opgate: OpGate, folder: Path, module: str) -> dict[str, set[str]]:
    """The checks that fail, by operator."""
    folder.mkdir()
    (folder / "my_backend.py").write_text(module + END)
    recorded = opgate("record", "--over", "CUDA", "--module", "my_backend", folder=folder)
    assert recorded.returncode == 0, recorded
    assert "aten::silu at CUDA: " in recorded.stdout
    run = opgate("run", "--device", "sim", *CHECKS, folder=folder)
    cases = read_results(folder / ".opgate").cases
    assert {case.partition("/")[0] for case in cases} == {"silu", "hypot.out", "atan2"}
    bad = {case: line for case, line in cases.items() if line["verdict"] != "pass"}
    assert {line["verdict"] for line in bad.values()} <= {"fail", "invalid"}, run
    failed: dict[str, set[str]] = {}
    for case in bad:
        failed.setdefault(case.partition("/")[0], set()).add(case.rpartition("/")[2])
    return failed


def test_wrong_kernels_are_found_and_right_ones_are_not(opgate: OpGate, tmp_path: Path) -> None:
    assert judged(opgate, tmp_path / "right", RIGHT) == {}
    failed = judged(opgate, tmp_path / "wrong", WRONG)
    assert "value.layout" in failed["silu"]
    assert failed["hypot.out"] & {"value.device", "fake.metadata"}
    assert {"value.device", "fake.metadata"} <= failed["atan2"]


def test_a_recording_for_a_kernel_that_nothing_registers_is_refused(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "my_backend.py").write_text(RIGHT + END)
    assert opgate("record", "--over", "CUDA", "--module", "my_backend", folder=tmp_path).returncode == 0
    (tmp_path / "my_backend.py").write_text("")
    run = opgate("run", "--device", "sim", "--check", "value.device", folder=tmp_path)
    assert run.returncode == 2
    assert "nothing that opgate.toml loads replaces the kernel of aten::" in run.stderr


def test_no_kernel_and_no_such_key_are_errors(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "my_backend.py").write_text("")
    run = opgate("record", "--over", "CUDA", "--module", "my_backend", folder=tmp_path)
    assert (run.returncode, "registers no kernel of torch's operators" in run.stderr) == (2, True), run
    run = opgate("record", "--over", "XPU", "--module", "my_backend", folder=tmp_path)
    assert (run.returncode, "--over XPU: not a dispatch key of one device" in run.stderr) == (2, True), run
    run = opgate("record", folder=tmp_path)
    assert (run.returncode, "name a program to record" in run.stderr) == (2, True), run


def test_a_program_under_opgate_sim_runs_its_own_kernels(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        BEGIN
        + 'library.impl("silu", lambda x: x + 100, "CUDA")\n'
        + 'print(torch.nn.functional.silu(torch.zeros(1, device="cuda")).item())\n'
    )
    run = opgate("sim", "--seconds", "0", "--", sys.executable, "program.py", folder=tmp_path)
    assert run.stdout == "100.0\n", run
