"""Libraries of ten operators or functions that know nothing of OpGate: each wrong one is one defect."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from harness import Completed, OpGate, read_results, wrong_operators

pytestmark = pytest.mark.long

TESTS_ON_CPU = """
import torch

torch.ops.load_library("./libten_on_cpu.so")
ops = torch.ops.ten_on_cpu


def test_operators():
    x, w = torch.randn(3, 8), torch.rand(8)
    torch.testing.assert_close(ops.rms_norm(x, w, 1e-5), torch.nn.functional.rms_norm(x, (8,), w, 1e-5))
    x = torch.randn(4, 6)
    torch.testing.assert_close(ops.silu_and_mul(x), torch.nn.functional.silu(x[:, :3]) * x[:, 3:])
    torch.testing.assert_close(ops.gather_rows(x, torch.tensor([3, 0, 2])), x[[3, 0, 2]])
    torch.testing.assert_close(ops.running_max(x)[0], x.cummax(1).values)
    state, new = torch.randn(4, 5), torch.randn(4, 5)
    want = state * 0.9 + new * 0.1
    ops.decay_(state, new, 0.9)
    torch.testing.assert_close(state, want)
    torch.testing.assert_close(ops.row_softmax(x), x.softmax(1))
    torch.testing.assert_close(ops.row_sums(x), x.double().sum(1))
    assert ops.standardize(x.clone()).mean().abs() < 1e-5
    assert ops.drop_rows(x, 0.3).shape == x.shape
    x = torch.randn(4, 5, requires_grad=True)
    ops.cubed(x).backward(torch.ones(4, 5))
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
"""


def library_checked(opgate: OpGate, library: Path, tests: str, folder: Path, *recorder: str) -> Completed:
    """Copies the library into `folder`, and checks it there."""
    shutil.copy(library, folder / library.name.replace("libopgate_", "lib"))
    (folder / "test_ten.py").write_text(tests)
    return checked(opgate, folder, *recorder)


def checked(opgate: OpGate, folder: Path, *recorder: str) -> Completed:
    """Records the calls of the tests in `folder`, which pass, and runs the checks on them."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    recorded = opgate("record", *recorder, "--", *words, folder=folder)
    assert recorded.returncode == 0, recorded
    assert "left out" not in recorded.stdout, recorded
    return opgate("run", folder=folder)


def assert_each_wrong_one_is_one_defect(run: Completed, folder: Path, wrong: set[str]) -> None:
    defects = read_results(folder / ".opgate").defects
    assert sorted(defect["op"] for defect in defects) == sorted(wrong), run.stdout
    assert all("callers" not in defect for defect in defects), run.stdout
    assert run.returncode == 1


def named_in_notes(run: Completed) -> set[str]:
    notes = run.stdout.partition("\nnotes\n")[2]
    return set(re.findall(r"^  ([\w.:]+): ", notes, re.M))


def test_on_the_cpu(opgate: OpGate, build: Path, source: Path, tmp_path: Path) -> None:
    run = library_checked(opgate, build / "lib" / "libopgate_ten_on_cpu.so", TESTS_ON_CPU, tmp_path)
    wrong = wrong_operators(source, "ten_on_cpu")
    assert_each_wrong_one_is_one_defect(run, tmp_path, wrong)
    assert named_in_notes(run) <= wrong


def test_in_cuda_on_the_simulated_device(
    opgate: OpGate, build: Path, source: Path, tmp_path: Path, has_simulator: bool
) -> None:
    if not has_simulator:
        pytest.skip("this build has no CUDA")
    tests = (source / "fixtures" / "libraries" / "ten_on_cuda" / "test_ten.py").read_text()
    run = library_checked(opgate, build / "lib" / "libopgate_ten_on_cuda.so", tests, tmp_path, "--sim")
    wrong = wrong_operators(source, "ten_on_cuda")
    assert_each_wrong_one_is_one_defect(run, tmp_path, wrong)
    # It refuses rows that do not fit into shared memory, by the error of its launch.
    assert named_in_notes(run) - wrong == {"scanned"}


def test_functions_in_cuda_on_the_simulated_device(
    opgate: OpGate, build: Path, source: Path, tmp_path: Path, has_simulator: bool
) -> None:
    if not has_simulator:
        pytest.skip("this build has no CUDA")
    folder = shutil.copytree(source / "fixtures" / "functions_on_cuda", tmp_path / "a user's folder")
    for kernels in (build / "functions_on_cuda").glob("_kernels*.so"):
        shutil.copy(kernels, folder / "gridlib")
    run = checked(opgate, folder, "--sim")
    # One is a part of the backward pass of Cubed, recorded on its own.
    wrong = wrong_operators(source, "functions_on_cuda")
    assert_each_wrong_one_is_one_defect(run, folder, wrong)
    assert named_in_notes(run) <= wrong


def test_functions_in_triton_on_the_simulated_device(
    opgate: OpGate, source: Path, tmp_path: Path, has_simulator: bool
) -> None:
    pytest.importorskip("triton")
    if not has_simulator:
        pytest.skip("this build has no CUDA")
    folder = shutil.copytree(source / "fixtures" / "functions_in_triton", tmp_path / "a user's folder")
    run = checked(opgate, folder, "--sim")
    wrong = wrong_operators(source, "functions_in_triton")
    assert_each_wrong_one_is_one_defect(run, folder, wrong)
    # Recorded numbers are in tensors of other sizes, too.
    checks = {defect["op"]: set(defect["checks"]) for defect in read_results(folder / ".opgate").defects}
    assert "explore.samples" in checks["rowkit.elementwise:decay_"] & checks["rowkit.rows:scale_rows"]
    # It looks at its indices on the host, so that no graph can hold it.
    assert named_in_notes(run) - wrong == {"rowkit.gather:gather_rows"}
