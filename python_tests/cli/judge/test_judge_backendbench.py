"""opgate judge --backendbench: kernels of a folder beside torch's operators that they replace."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from harness import Completed, OpGate, assert_refused

RIGHT = ["add.Tensor", "embedding", "hypot.out", "isnan", "mm", "mul_.Tensor", "relu", "sum.dim_IntList"]
PLANTED = {
    "add.Tensor": "wrong values",
    "embedding": "shares memory with an argument",
    "hypot.out": "other sizes or dtype",
    "mm": "precision",
    "mul_.Tensor": "is not the argument",
    "relu": "ignores strides",
    "sum.dim_IntList": "other sizes or dtype",
}
CALLS = """\
Operator: aten.add.Tensor
cnt: 4, ((T([8, 512], f16), T([512], f16)), {'alpha': 2})

cnt: 1, ((T([16, 128], f32, [1, 16]), 2.5), {})
cnt: 1, ((T([4096, 4096], f32), 2.5), {})
cnt: 1, ((T([4096, 4096], f32), 2.5), {'device': torch.device('cuda:0')})
Operator: aten.sum.SymInt
cnt: 2, ((T([4, 100], bf16), [1], True), {'dtype': torch.float32})
Operator: aten.embedding.default
cnt: 2, ((T([100, 16], f32), T([4, 7], i64)), {})
cnt: 0, ((T([100, 16], f32), T([], i64)), {})
"""


def verdicts(completed: Completed) -> dict[tuple[str, str], dict[str, Any]]:
    """The verdicts by overload and version."""
    lines = map(json.loads, completed.stdout.splitlines())
    return {
        (line["operator"].removeprefix("aten::"), line["candidate"].partition("_v")[2][:1]): line
        for line in lines
    }


@pytest.fixture(scope="module")
def judged(opgate: OpGate, source: Path) -> Completed:
    """The kernels of fixtures/backendbench."""
    return opgate("judge", "--backendbench", source / "fixtures" / "backendbench", "--json", timeout=120)


@pytest.mark.parametrize("overload", RIGHT)
def test_right_kernels_are_correct(judged: Completed, overload: str) -> None:
    verdict = verdicts(judged)[overload, "1"]
    assert verdict["verdict"] == "correct", verdict


@pytest.mark.parametrize("overload", PLANTED)
def test_mistakes_are_found_from_the_samples_of_torch(judged: Completed, overload: str) -> None:
    verdict = verdicts(judged)[overload, "2"]
    assert {finding["how"] for finding in verdict["findings"]} == {PLANTED[overload]}, verdict
    assert judged.returncode == 1


@pytest.mark.parametrize(
    ("overload", "version", "reason"),
    [
        ("bernoulli", "1", "aten::bernoulli draws random numbers"),
        ("no_operator", "1", "has no operator aten::no_operator"),
        ("isnan", "2", "zeros only with NaN"),
    ],
)
def test_what_cannot_be_judged_has_a_reason(
    judged: Completed, overload: str, version: str, reason: str
) -> None:
    verdict = verdicts(judged)[overload, version]
    assert verdict["verdict"] == "unclear"
    assert reason in verdict["unclear"][0]


def made(folder: Path, name: str, body: str) -> None:
    """Writes a kernel."""
    (folder / name).mkdir(parents=True)
    (folder / name / f"{name}_implementation_v1.py").write_text(body)


def test_calls_of_programs_must_not_be_refused(opgate: OpGate, tmp_path: Path) -> None:
    made(
        tmp_path / "kernels",
        "add__Tensor",
        "def add__Tensor_kernel_impl(x, y, alpha=1):\n"
        "    assert x.element_size() == 2, 'for half precision alone'\n"
        "    return x + alpha * y\n",
    )
    made(
        tmp_path / "kernels",
        "embedding__default",
        "def embedding__default_kernel_impl(weight, indices, *others):\n"
        "    assert indices.dim() > 0 or len(weight) != 100\n"
        "    return weight.index_select(0, indices.reshape(-1)).view(*indices.shape, -1)\n",
    )
    made(
        tmp_path / "kernels",
        "sum__dim_IntList",
        "def sum__dim_IntList_kernel_impl(x, dim, keepdim=False, dtype=None):\n"
        "    assert x.is_floating_point() and dim is not None\n"
        "    return x.sum(dim, keepdim, dtype=dtype)\n",
    )
    (tmp_path / "calls.txt").write_text(CALLS)
    options = ["--backendbench", tmp_path / "kernels", "--arguments", tmp_path / "calls.txt"]
    seen = verdicts(opgate("judge", *options, "--json", timeout=120))
    place = f"the call in {tmp_path}/calls.txt"
    assert [each["sample"].partition(",")[0] for each in seen["add.Tensor", "1"]["findings"]] == [
        f"{place}:4"
    ]
    left_out = seen["add.Tensor", "1"]["left_out"]
    assert any("1 of 3 calls of aten::add.Tensor" in text for text in left_out)
    assert any(text.startswith(f"{tmp_path}/calls.txt:6: `torch.device(") for text in left_out)
    assert seen["embedding", "1"]["findings"][0]["sample"].startswith(f"{place}:11")
    # What it refuses is no call of the file.
    assert seen["sum.dim_IntList", "1"]["verdict"] == "correct"
    refusals = [text for text in seen["sum.dim_IntList", "1"]["remarks"] if text.startswith("refuses sample")]
    assert refusals


def test_the_report_has_a_line_for_each_kernel(opgate: OpGate, tmp_path: Path) -> None:
    made(tmp_path, "neg__default", "def neg__default_kernel_impl(x):\n    return 0 - x\n")
    made(tmp_path, "_log__softmax", "def _log__softmax_kernel_impl(x):\n    return x\n")
    completed = opgate("judge", "--backendbench", tmp_path, timeout=120)
    lines = completed.stdout.splitlines()
    assert lines[0].split() == ["unclear", "aten::_log.softmax", "_log__softmax_implementation_v1.py"]
    assert "has no operator aten::_log.softmax" in lines[1]
    assert lines[2].split() == ["correct", "aten::neg", "neg__default_implementation_v1.py"]
    assert lines[3:] == ["2 kernels: 1 correct, 1 unclear"]
    assert completed.returncode == 3


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        ("cnt: 1, ((T([8], f16),), {})\n", "calls.txt:1: there is no line `Operator:"),
        (
            "Operator: aten.relu.default\ncnt: 1, (open('x'), {})\n",
            "calls.txt:2: these are not `(ARGUMENTS, KEYWORDS)`",
        ),
        (
            "Operator: aten.relu.default\ncnt: 1, ((T([8], f16),)\n",
            "calls.txt:2: cannot read these arguments",
        ),
        ("relu\n", "calls.txt:1: this is neither"),
        ("", "calls.txt has no calls"),
    ],
)
def test_a_file_of_calls_that_cannot_be_read_is_refused(
    opgate: OpGate, tmp_path: Path, calls: str, problem: str
) -> None:
    made(tmp_path, "relu__default", "def relu__default_kernel_impl(x):\n    return x.clamp_min(0)\n")
    (tmp_path / "calls.txt").write_text(calls)
    refused = opgate("judge", "--backendbench", tmp_path, "--arguments", tmp_path / "calls.txt")
    assert_refused(refused, problem)


def test_folders_without_kernels_and_other_options_are_refused(opgate: OpGate, tmp_path: Path) -> None:
    assert_refused(opgate("judge", "--backendbench", tmp_path), "has no kernels", "NAME_implementation*.py")
    assert_refused(opgate("judge", "--backendbench", tmp_path / "none"), "there is no folder")
    assert_refused(opgate("judge", "--backendbench", tmp_path, "--reference", "x.py"), "excludes")
    assert_refused(opgate("judge", "--arguments", "calls.txt"), "requires --backendbench")


def test_kernels_in_triton_are_judged_on_the_simulated_device(opgate: OpGate, source: Path) -> None:
    folder = source / "fixtures" / "backendbench_in_triton"
    seen = verdicts(opgate("judge", "--backendbench", folder, "--device", "sim", "--json", timeout=120))
    assert seen["silu", "1"]["verdict"] == "correct"
    assert [each["how"] for each in seen["silu", "2"]["findings"]] == ["ignores strides"]


@pytest.mark.exhaustive
def test_the_right_kernels_over_torch_are_accused_of_nothing(
    opgate: OpGate, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KERNELS", "")
    file = source / "fixtures" / "over_torch" / "right_kernels.py"
    for kernel in runpy.run_path(str(file))["KERNELS"]:
        name = kernel.replace(".", "__") if "." in kernel else f"{kernel}__default"
        body = (
            "import os, runpy\n"
            "os.environ['MY_KERNELS'] = ''\n"
            f"{name}_kernel_impl = runpy.run_path({str(file)!r})['KERNELS'][{kernel!r}]\n"
        )
        made(tmp_path, name, body)
    seen = verdicts(opgate("judge", "--backendbench", tmp_path, "--json", timeout=300))
    assert len(seen) == 41
    undecided = {overload for (overload, _), each in seen.items() if each["verdict"] == "unclear"}
    assert undecided == {"lerp.Tensor", "zero_"}  # no sample; zeros are what is right
    assert {each["verdict"] for each in seen.values()} == {"correct", "unclear"}
