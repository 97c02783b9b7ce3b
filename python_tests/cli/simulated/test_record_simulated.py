"""`opgate record --sim`: the program runs as under `opgate sim`, and values on CUDA are recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import OpGate

# `vectors_of_four` reads a misaligned address of a tensor that begins at its second element, with which the
# function fails that waits for the kernel. `padding_of_zeros` looks rows up.
PROGRAM = """
import sys
import torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.opgate_defects
x = torch.arange(12.0, device="cuda").reshape(3, 4)


def attempt(name, call):
    try:
        print(name, call())
    except RuntimeError as error:
        print(name, str(error).splitlines()[0])


for _ in range(2):
    attempt("faults", lambda: ops.vectors_of_four(torch.arange(33.0, device="cuda")[1:]).sum().item())
    attempt("waits", torch.cuda.synchronize)
    attempt("goes on", lambda: ops.any_strides_on_cuda(x[1:]).tolist())
ops.vectors_of_four(torch.arange(25.0, device="cuda")[1:])
attempt("a right one finds it", lambda: ops.any_strides_on_cuda(x).tolist())
attempt("looks up", lambda: ops.padding_of_zeros(x, torch.tensor([2, -1], device="cuda") + 0).tolist())
attempt("reads columns", lambda: ops.any_strides_on_cuda((x + 0.5).t()[1:3]).tolist())
rows = x[:1].clone()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    captured = ops.any_strides_on_cuda(rows)
graph.replay()
print("captures", captured.tolist())
"""

FUNCTIONS = """
import torch

ops = torch.ops.opgate_defects


def vectors_of_four(x):
    return ops.vectors_of_four(x)


def any_strides_on_cuda(x):
    return ops.any_strides_on_cuda(x)


def padding_of_zeros(x, rows):
    return ops.padding_of_zeros(x, rows)
"""


@pytest.fixture(autouse=True)
def needs_simulator(has_simulator: bool) -> None:
    """Without nvcc there is nothing to simulate."""
    if not has_simulator:
        pytest.skip("no simulated device here")


def samples(folder: Path, op: str) -> list[list[dict[str, Any]]]:
    described = json.loads((folder / "recorded" / f"opgate_defects.{op}.json").read_text())
    return [sample["arguments"] for sample in described["samples"]]


@pytest.mark.long
def test_the_program_is_recorded_to_its_end_and_does_not_notice(
    opgate: OpGate, build: Path, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    program = ["--", sys.executable, "program.py", build / "lib" / "libopgate_defects.so"]
    simulated = opgate("sim", "--tool", "memory", *program, folder=tmp_path)
    assert simulated.stdout.count("CUDA error: misaligned address") == 3, simulated
    assert simulated.stdout.splitlines()[-1] == "captures [[0.0, 2.0, 4.0, 6.0]]", simulated

    recorded = opgate("record", "--sim", *program, folder=tmp_path)
    assert recorded.returncode == 0, recorded
    assert recorded.stdout.startswith(simulated.stdout), recorded
    told = [line for line in recorded.stderr.splitlines() if not line.startswith("opgate sim: kernel ")]
    assert not told, "the recorder adds nothing"

    assert samples(tmp_path, "padding_of_zeros") == [
        [
            {"shape": [3, 4], "values": "literal(0,1,2,3,4,5,6,7,8,9,10,11)"},
            {"dtype": "int64", "shape": [2], "values": "literal(2,-1)"},
        ]
    ]
    of_rows = [arguments[0]["values"] for arguments in samples(tmp_path, "any_strides_on_cuda")]
    assert "literal(4,5,6,7,8,9,10,11)" in of_rows
    assert "literal(1.5,5.5,9.5,2.5,6.5,10.5)" in of_rows, "in the order of the view"
    assert "uniform" in of_rows, "what is captured has no values yet"
    of_faults = [arguments[0]["values"] for arguments in samples(tmp_path, "vectors_of_four")]
    assert of_faults[0].startswith("literal(1,2,3,")
    assert len(of_faults) == 2


@pytest.mark.long
def test_a_program_does_not_notice_that_its_functions_are_recorded(
    opgate: OpGate, build: Path, tmp_path: Path
) -> None:
    """Their arguments are looked at after a call, too: whether it has written them."""
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "program.py").write_text(
        PROGRAM.replace("ops = torch.ops.opgate_defects", "import functions as ops")
    )
    program = ["--", sys.executable, "program.py", build / "lib" / "libopgate_defects.so"]
    simulated = opgate("sim", "--tool", "memory", *program, folder=tmp_path)
    recorded = opgate("record", "--sim", "--function", "functions:*", *program, folder=tmp_path)
    assert recorded.returncode == 0, recorded
    assert recorded.stdout.startswith(simulated.stdout), recorded
    assert simulated.stdout.splitlines()[-1] == "captures [[0.0, 2.0, 4.0, 6.0]]", simulated
    for name in ("vectors_of_four", "any_strides_on_cuda", "padding_of_zeros"):
        assert f"functions:{name}" in recorded.stdout
