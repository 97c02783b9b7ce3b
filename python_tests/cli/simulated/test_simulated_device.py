"""The device `sim`: CUDA kernels get verdicts without a GPU, which are never taken for those of a GPU."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, assert_refused, read_results

LAYOUT = ["--check", "value.layout"]
IDENTITY = {"libraries": ["libopgate_ops.so"], "specs": ["libopgate_identity_specs.so"]}
DEFECTS = {"libraries": ["libopgate_defects.so"]}


@pytest.fixture(autouse=True)
def needs_simulator(has_simulator: bool) -> None:
    """Without nvcc there is nothing to simulate, and where there is a GPU nothing is by default."""
    if not has_simulator:
        pytest.skip("no simulated device here")


@pytest.fixture
def project(new_project: Callable[..., Path]) -> Path:
    return new_project(**IDENTITY)


def test_a_case_is_simulated_and_stays_owed_on_cuda(opgate: OpGate, project: Path) -> None:
    run = opgate("run", *LAYOUT, folder=project)
    assert run.returncode == 0, run
    cases = read_results(project / ".opgate").cases
    by_device = {
        device: [line for case, line in cases.items() if f"/{device}/" in case]
        for device in ("cpu", "cuda", "sim")
    }
    assert len(by_device["cpu"]) == len(by_device["cuda"]) == len(by_device["sim"]) > 0
    assert {line["verdict"] for line in by_device["sim"]} == {"pass"}
    assert {line["verdict"] for line in by_device["cuda"]} == {"owed"}
    assert all(line["asked_on_simulator"] for line in by_device["cuda"])
    count = len(by_device["cpu"])
    summary = run.stdout.splitlines()[-1]
    assert summary.startswith(
        f"{count} passed, {count} simulated, 0 failed, 0 owed (no GPU has run what is simulated"
    )
    rows = [line.split()[:2] for line in run.stdout.splitlines() if line.startswith("identity_conv ")]
    assert rows == [["identity_conv", "cpu"], ["identity_conv", "sim"]]
    # The report has a row of the device that was simulated, too.
    report = opgate("report", "--markdown", project / "report.md", folder=project)
    assert report.returncode == 0, report
    text = (project / "report.md").read_text()
    for device, cell in (("cpu", "ok"), ("cuda", "owed"), ("sim", "ok")):
        assert f"| identity\\_conv {device} | {cell} |" in text


def test_torch_s_operators_treat_devices_and_results_as_on_a_gpu(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        """
import torch

x = torch.ones(3, 4, device="cuda")
print(torch.add(x, torch.tensor(2.0)).sum().item())
try:
    torch.add(x, torch.ones(3, 4))
except RuntimeError as error:
    print(error)
out = torch.empty(1, device="cuda")
torch.hypot(torch.tensor(3.0, device="cuda"), torch.tensor(4.0, device="cuda"), out=out)
print(out.shape, out.item())
half, number = torch.ones(2, device="cuda", dtype=torch.half), torch.tensor(1j, device="cuda")
print(torch.sub(half, number, alpha=2).dtype)
"""
    )
    run = opgate("sim", "--seconds", "0", "--", sys.executable, "program.py", folder=tmp_path)
    assert run.stdout.splitlines() == [
        "36.0",
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "torch.Size([]) 5.0",
        "torch.complex32",
    ], run


def test_the_device_can_be_asked_for_and_left_out(opgate: OpGate, project: Path) -> None:
    def devices(*words: str) -> set[str]:
        run = opgate("list", "cases", *LAYOUT, *words, folder=project)
        assert run.returncode == 0, run
        return {case.split("/")[4] for case in run.stdout.split()}

    assert devices() == {"cpu", "cuda", "sim"}
    assert devices("--device", "sim") == {"sim"}
    assert devices("--no-sim") == {"cpu", "cuda"}
    both = opgate("run", "--device", "sim", "--no-sim", folder=project)
    assert_refused(both, "--no-sim leaves out what --device or --case asks for")


def test_cuda_alone_is_owed_and_not_asked_elsewhere(opgate: OpGate, project: Path) -> None:
    run = opgate("run", *LAYOUT, "--device", "cuda", folder=project)
    assert run.returncode == 0
    assert re.match(r"0 passed, 0 failed, \d+ owed \(owed: no NVIDIA driver", run.stdout.splitlines()[-1])


def test_a_case_is_repeated_by_its_id(opgate: OpGate, project: Path) -> None:
    repeated = opgate("repro", "identity_conv/float32/7/x=stepped/sim/value.layout", folder=project)
    assert repeated.returncode == 0, repeated
    assert "PASS value.layout · identity_conv · float32 · 7 · x=stepped · sim" in repeated.stdout


def test_a_failure_of_the_device_tells_kernel_and_place_and_costs_one_case(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    project = new_project(**DEFECTS)
    run = opgate("run", *LAYOUT, "--device", "sim", "--op", "dense_on_cuda", "-j", "1", folder=project)
    assert run.returncode == 1, run
    results = read_results(project / ".opgate")
    crashes = [line for line in results.cases.values() if line["verdict"] == "crash"]
    assert crashes
    assert all("an illegal memory access was encountered" in line["reason"] for line in crashes)
    assert all("past the end of an allocation of" in line["reason"] for line in crashes)
    assert all(line["stack"][0].startswith("opgate_defects::twice<float> at ") for line in crashes)
    assert "pass" in {line["verdict"] for line in results.cases.values()}
    assert (project / ".opgate" / "worker-native-sim.log").read_text().count("illegal") == 0, (
        "no worker ended"
    )


def test_a_failure_of_the_device_in_an_explored_sample_is_a_crash(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    project = new_project(**DEFECTS)
    options = ["--device", "sim", "--op", "last_block_unasked", "-j", "1"]
    run = opgate("run", "--check", "explore.samples", *options, folder=project)
    assert run.returncode == 1, run
    (line,) = read_results(project / ".opgate").cases.values()
    assert line["verdict"] == "crash"
    assert "the simulated device failed: an illegal memory access was encountered" in line["reason"]


def test_the_gate_keeps_what_only_another_run_has_simulated(opgate: OpGate, project: Path) -> None:
    assert opgate("run", *LAYOUT, "--output", "with", folder=project).returncode == 0
    assert opgate("run", *LAYOUT, "--no-sim", "--output", "without", folder=project).returncode == 0
    for base, head in [("with", "without"), ("without", "with")]:
        gate = opgate(
            "gate", "--base", f"{base}/results.jsonl", "--results", f"{head}/results.jsonl", folder=project
        )
        assert gate.returncode == 0, gate
    strict = opgate(
        "gate",
        "--base",
        "with/results.jsonl",
        "--results",
        "with/results.jsonl",
        "--strict-gpu",
        folder=project,
    )
    assert strict.returncode == 1
    assert "cuda: " in strict.stdout, "a simulated pass is no pass on a GPU"
    assert "cases are owed, and --strict-gpu wants none" in strict.stdout


def test_a_copy_to_another_device_is_ordered_with_both_streams(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    project = new_project(**DEFECTS)
    options = ["--device", "sim", "--op", "result_on_last_device", "--check", "value.reference"]
    run = opgate("run", *options, folder=project)
    assert run.returncode == 0, run


def test_results_that_lie_elsewhere_are_told_unless_the_spec_says_so(
    opgate: OpGate, new_project: Callable[..., Path], source: Path
) -> None:
    planted = {"python": ["opgate_planted"], "python_path": [str(source / "fixtures/defects/python")]}
    project = new_project(**DEFECTS, **planted)
    ops = ["count_on_the_host", "result_on_last_device", "lengths_on_host", "lengths_on_device"]
    run = opgate("run", "--device", "sim", "--op", *ops, "--check", "run.device", folder=project)
    assert run.returncode == 1, run
    results = read_results(project / ".opgate")

    def verdicts(op: str) -> set[str]:
        return {line["verdict"] for line in results.of(op).values()}

    assert verdicts("lengths_on_host") == {"pass"}
    assert verdicts("count_on_the_host") == verdicts("lengths_on_device") == {"fail"}
    assert "not kept: the output on the device of the arguments, cuda:0" in run.stdout
    assert "seen     the output is on cpu" in run.stdout
    assert "if it is meant to be there, say spec.on_cpu(0)" in run.stdout
    assert "seen     the output is on cuda:1" in run.stdout
    assert "not kept: the output on the CPU, as the spec says" in run.stdout


def test_a_captured_call_that_leaves_another_stream_current_is_a_failure_with_its_reason(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    project = new_project(**DEFECTS)
    options = ["--device", "sim", "--op", "ends_on_its_stream", "--check", "run.graph", "-j", "1"]
    run = opgate("run", *options, folder=project)
    assert run.returncode == 1, run
    cases = read_results(project / ".opgate").cases
    assert {line["verdict"] for line in cases.values()} == {"fail"}
    assert "it leaves another stream current than the one on which it was called" in run.stdout


@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("OPGATE_SIM_APPROXIMATE", "hgh", "give exact, low or high"),
        ("OPGATE_SIM_FILL", "256", "give a number from 0 to 255"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_before_the_first_case(
    opgate: OpGate, project: Path, variable: str, value: str, wanted: str
) -> None:
    run = opgate("run", *LAYOUT, "--device", "sim", folder=project, environment={variable: value})
    assert_refused(run, f"{variable}={value}: {wanted}")


def test_gradients_and_graphs_and_streams_are_asked(opgate: OpGate, new_project: Callable[..., Path]) -> None:
    project = new_project(libraries=["libopgate_ops.so"], specs=["libopgate_ops_specs.so"])
    checks = ["grad.reference", "run.stream", "run.graph", "run.device", "value.device"]
    run = opgate("run", "--op", "gelu_tanh", "--device", "sim", "--check", *checks, folder=project)
    assert run.returncode == 0, run
    cases = read_results(project / ".opgate").cases
    assert {case.rpartition("/")[2] for case in cases} == set(checks)
    assert {line["verdict"] for line in cases.values()} == {"pass"}
