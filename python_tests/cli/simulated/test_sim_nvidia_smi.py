"""Programs that `opgate sim` starts ask nvidia-smi which devices there are, as libraries do."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from harness import Completed, OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


@pytest.fixture
def smi(opgate: OpGate, tmp_path: Path) -> Smi:
    return Smi(opgate, tmp_path)


class Smi:
    def __init__(self, opgate: OpGate, folder: Path) -> None:
        self.opgate, self.folder = opgate, folder

    def __call__(self, *words: str, options: tuple[str, ...] = ()) -> Completed:
        return self.opgate("sim", "--seconds", "0", *options, "--", "nvidia-smi", *words, folder=self.folder)


ASKED = """
import subprocess, torch
fields = "index,name,compute_cap,memory.total,uuid"
query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
for line in subprocess.check_output(query, text=True).splitlines():
    index, name, capability, memory, uuid = line.split(", ")
    known = torch.cuda.get_device_properties(int(index))
    assert name == known.name and "simulated" in name, name
    assert capability == f"{known.major}.{known.minor}"
    assert int(memory) == known.total_memory >> 20
    assert uuid == f"GPU-{known.uuid}"
assert int(index) + 1 == torch.cuda.device_count() == 3
"""


def test_it_knows_what_the_runtime_knows(opgate: OpGate, tmp_path: Path) -> None:
    words = ["sim", "--tool", "memory", "--devices", "3", "--arch", "100"]
    run = opgate(*words, "--", sys.executable, "-c", ASKED, folder=tmp_path)
    assert run.returncode == 0, run


def test_a_query_is_answered_as_nvidia_smi_does(smi: Smi) -> None:
    run = smi("--query-gpu=count,compute_cap,memory.free,temperature.gpu", "--format=csv")
    assert run.returncode == 0, run
    header, *rows = run.stdout.splitlines()
    assert header == "count, compute_cap, memory.free [MiB], temperature.gpu"
    assert len(rows) == 2
    assert all(re.fullmatch(r"2, 9\.0, \d+ MiB, \[N/A\]", row) for row in rows)
    chosen = smi("--query-gpu=index", "--format=csv,noheader", "--id=1")
    assert chosen.stdout == "1\n"
    assert smi(
        "--query-gpu", "compute_cap", "--format", "csv, noheader", options=("--arch", "80")
    ).stdout == ("8.0\n8.0\n")


def test_the_devices_are_listed(smi: Smi) -> None:
    listed = smi("-L").stdout.splitlines()
    assert [re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", line) for line in listed] == [
        "GPU 0: OpGate simulated H100 (UUID: GPU-ID)",
        "GPU 1: OpGate simulated H100 (UUID: GPU-ID)",
    ]
    for words in ([], ["-q"], ["-q", "-i", "0"]):
        run = smi(*words)
        assert run.returncode == 0, run
        assert re.search(r"Driver Version *: 580\.0\b", run.stdout)
        assert re.search(r"CUDA Version *: 13\.\d", run.stdout)
        assert "OpGate simulated" in run.stdout


def test_that_somebody_asks_is_no_use_of_the_devices(smi: Smi) -> None:
    assert "the program used no CUDA device" in smi("-L").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--query-gpu=name,colour", "--format=csv"], 'Field "colour" is not a valid field to query'),
        (["--query-gpu=name"], '"--format=" switch is missing'),
        (["--query-gpu=name", "--format=xml"], '"--format=" switch is missing or is not csv'),
        (["topo", "-m"], "topo is not known"),
        (["-q", "-x"], "-x is not known"),
        (["-L", "-i", "7"], "there is no device 7"),
    ],
)
def test_what_it_does_not_know_is_refused(smi: Smi, words: list[str], message: str) -> None:
    run = smi(*words)
    assert run.returncode == 2, run
    assert (run.stdout, message in run.stderr) == ("", True), run
