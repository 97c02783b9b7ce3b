"""Kernels that a module registers over torch's own, from the samples of torch's tests alone."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from harness import OpGate, read_results

pytest.importorskip("expecttest")
pytestmark = [pytest.mark.long, pytest.mark.usefixtures("needs_simulated_runtime")]

BEGIN = """
import torch

library = torch.library.Library("aten", "IMPL")
"""
SILU = BEGIN + 'library.impl("silu", lambda x: x * torch.sigmoid(x), "CUDA")\n'
OVER_AUTOGRAD = """
class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return below_autograd(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return gradient * s * (1 + x * (1 - s))

def below_autograd(x):
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.aten.silu(x)

library.impl("silu", {}, "AutogradCPU")
"""
CHECKS = ("--check", "value", "effect", "error.raises", "fake.metadata", "registration", "run.modes")
PLANTED = {
    "atan2": {"error.raises"},  # a number on the CPU
    "bmm": {"value.device"},  # digits of float32
    "cat": {"error.raises"},  # the type of an exception
    "cumsum": {"run.modes"},  # the branch for deterministic algorithms
    "deg2rad": {"value.device", "fake.metadata"},  # the dtype for integers
    "fmax": {"error.raises"},  # promotion
    "hypot.out": {"value.device", "fake.metadata"},  # `out` of other sizes
    "mm": {"value.layout"},  # a lazy conjugation
    "silu": {"value.layout"},  # strides
    "sinh": {"effect.copy_on_write"},
}


def judged(
    opgate: OpGate, folder: Path, kernels: Path, key: str, **environment: str
) -> tuple[int, dict[str, set[str]]]:
    """How many operators are judged, and the checks that do not pass, by operator."""
    folder.mkdir()
    shutil.copy(kernels, folder)
    environment["MY_KEY"] = key
    words = ["--over", key, "--module", kernels.stem]
    recorded = opgate("record", *words, folder=folder, environment=environment)
    assert recorded.returncode == 0, recorded
    one = environment.get("MY_KERNELS", "silu").split()[0]
    assert f"aten::{one} at {key}: " in recorded.stdout
    device = "sim" if key == "CUDA" else "cpu"
    opgate("run", "--device", device, *CHECKS, folder=folder, environment=environment)
    results = read_results(folder / ".opgate")
    assert results.finished is not None
    bad: dict[str, set[str]] = {}
    for case, line in results.cases.items():
        if line["verdict"] != "pass":
            bad.setdefault(case.partition("/")[0], set()).add(case.rpartition("/")[2])
    return len({case.partition("/")[0] for case in results.cases}), bad


def test_planted_mistakes_are_found_and_their_twins_are_not(
    opgate: OpGate, source: Path, tmp_path: Path
) -> None:
    kernels = source / "fixtures" / "over_torch" / "planted_kernels.py"
    assert judged(opgate, tmp_path / "right", kernels, "CUDA") == (len(PLANTED), {})
    _, bad = judged(opgate, tmp_path / "wrong", kernels, "CUDA", MY_MISTAKES="1")
    assert bad.keys() == PLANTED.keys()
    assert {name: bad[name] & checks for name, checks in PLANTED.items()} == PLANTED, bad


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("CPU", "silu bmm cat addcmul hypot.out lerp.Scalar threshold trunc zero_"),
        ("CUDA", "masked_fill.Scalar rsqrt xlogy.Tensor"),
    ],
)
def test_right_kernels_are_not_accused(
    opgate: OpGate, source: Path, tmp_path: Path, key: str, names: str
) -> None:
    kernels = source / "fixtures" / "over_torch" / "right_kernels.py"
    assert judged(opgate, tmp_path / "project", kernels, key, MY_KERNELS=names) == (len(names.split()), {})


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", ["CPU", "CUDA"])
def test_all_right_kernels_are_not_accused(opgate: OpGate, source: Path, tmp_path: Path, key: str) -> None:
    kernels = source / "fixtures" / "over_torch" / "right_kernels.py"
    assert judged(opgate, tmp_path / "project", kernels, key) == (41, {})


@pytest.mark.parametrize(("kernel", "right"), [("Silu.apply", True), ("below_autograd", False)])
def test_a_kernel_above_autograd_that_has_no_derivative_is_found(
    opgate: OpGate, tmp_path: Path, kernel: str, right: bool
) -> None:
    (tmp_path / "over_autograd.py").write_text(BEGIN + OVER_AUTOGRAD.replace("{}", kernel))
    words = ("--over", "AutogradCPU", "--module", "over_autograd")
    assert opgate("record", *words, folder=tmp_path).returncode == 0
    run = opgate("run", "--device", "cpu", *CHECKS, "grad", folder=tmp_path)
    assert run.returncode == (0 if right else 1), run
    causes = [defect["cause"] for defect in read_results(tmp_path / ".opgate").defects]
    assert causes == ([] if right else ["no result has a derivative"])


@pytest.mark.parametrize(("traced", "right"), [("x", True), ("1.5 * x", False)])
def test_a_kernel_that_goes_another_way_while_it_is_traced_is_found(
    opgate: OpGate, tmp_path: Path, traced: str, right: bool
) -> None:
    below = f"""below_autograd(x):
    if torch.compiler.is_compiling():
        return x * torch.sigmoid({traced})
"""
    kernels = OVER_AUTOGRAD.replace("below_autograd(x):\n", below).replace("{}", "Silu.apply")
    (tmp_path / "over_autograd.py").write_text(BEGIN + kernels)
    words = ("--over", "AutogradCPU", "--module", "over_autograd")
    assert opgate("record", *words, folder=tmp_path).returncode == 0
    run = opgate("run", "--device", "cpu", "--check", "value", "compile", "export", folder=tmp_path)
    assert run.returncode == (0 if right else 1), run
    broken = read_results(tmp_path / ".opgate").failing_checks("silu")
    assert broken == (set() if right else {"compile.equal"})


def test_a_recording_for_a_kernel_that_nothing_registers_is_refused(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "my_backend.py").write_text(SILU)
    recorded = opgate("record", "--over", "CUDA", "--module", "my_backend", folder=tmp_path)
    assert recorded.returncode == 0, recorded
    assert "; for aten::silu_ and aten::silu.out torch's kernel stays\n" in recorded.stdout
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
