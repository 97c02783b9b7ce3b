"""What the modules of a project read, beside modules, decides whether results and the kept catalog count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

SPEC = """
import json
import os
from pathlib import Path

import numpy
import opgate
import torch

here = Path(__file__).parent
sizes = json.loads((here / "sizes.json").read_text())
weights = numpy.load(here / "weights.npy")
factor = int(os.environ.get("FACTOR", "1"))
os.environ["SET_HERE"] = "1"
copies = [{**os.environ}, os.environ.copy(), dict(os.environ.items())]
assert os.environ["SET_HERE"]
open("/proc/self/status").read()
cache = here / "cache.json"
cache.write_text(json.dumps({"process": os.getpid()}))
cache.read_text()


def twice(x: torch.Tensor) -> torch.Tensor:
    calls = here / "calls.txt"
    calls.write_text(f"{os.getpid()} {os.times().elapsed}")
    return x * 2


try:
    (here / "calls.txt").read_text()
except FileNotFoundError:
    pass
op = torch.library.custom_op("inputs::twice", twice, mutates_args=())
op.register_fake(torch.empty_like)


@opgate.spec("inputs::twice")
def promise(spec):
    spec.dtypes(torch.float32, device="cpu").draft()
    for size in sizes:
        spec.sample(opgate.uniform(size * factor))
"""
WORDS = ("--check", "registration", "value.layout", "--jobs", "1")


@pytest.fixture
def project(new_project: Callable[..., Path]) -> Path:
    import numpy

    folder = new_project(python=["reading_specs"], python_path=["."], ledger="ledger")
    (folder / "reading_specs.py").write_text(SPEC)
    (folder / "sizes.json").write_text("[3, 4]")
    numpy.save(folder / "weights.npy", numpy.zeros(3))
    return folder


def test_results_name_what_was_read_and_are_refused_where_it_is_another(
    opgate: OpGate, project: Path
) -> None:
    def accept(**environment: str) -> Completed:
        return opgate("accept", folder=project, environment=environment)

    ran = opgate("run", *WORDS, folder=project)
    assert ran.returncode == 0, ran
    inputs = read_results(project / ".opgate").header["inputs"]
    assert {Path(file).name for file in inputs["files"]} == {"sizes.json", "weights.npy", "calls.txt"}
    assert inputs["variables"] == {"FACTOR": ""}
    assert_refused(accept(), "has only some checks")  # and thus not for what was read
    assert_refused(accept(FACTOR="2"), "is out of date", "the environment variable FACTOR", "another value")
    weights = (project / "weights.npy").read_bytes()
    (project / "weights.npy").write_bytes(weights[:-1] + b"\1")
    assert_refused(accept(), "is out of date", "weights.npy", "has other contents now")
    (project / "weights.npy").unlink()
    assert_refused(accept(), "is out of date", "weights.npy", "is gone")
    (project / "weights.npy").write_bytes(weights)
    assert_refused(accept(), "has only some checks")


def test_the_kept_catalog_is_made_anew(opgate: OpGate, project: Path) -> None:
    def samples(**environment: str) -> set[str]:
        listed = opgate("list", "cases", "--check", "value.layout", folder=project, environment=environment)
        assert listed.returncode == 0, listed
        return {case.split("/")[2] for case in listed.stdout.split()}

    assert samples() == {"3", "4"}
    assert samples(FACTOR="10") == {"30", "40"}
    (project / "sizes.json").write_text(json.dumps([5]))
    assert samples() == {"5"}


DIFFERENT_ON_DEVICES = """
import opgate
import torch


def thrice(x: torch.Tensor) -> torch.Tensor:
    return x * 3


op = torch.library.custom_op("inputs::thrice", thrice, mutates_args=())
op.register_fake(torch.empty_like)


@opgate.spec("inputs::thrice")
def promise(spec):
    spec.dtypes(torch.float32, device="cpu").dtypes(torch.float32, device="cuda").draft()
    spec.sample(opgate.uniform(3 if torch.cuda.is_available() else 4))
"""


@pytest.mark.usefixtures("needs_simulated_runtime")
def test_a_spec_that_is_another_in_a_worker_of_the_simulated_device_is_no_defect(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    folder = new_project(python=["thrice_specs"], python_path=["."])
    (folder / "thrice_specs.py").write_text(DIFFERENT_ON_DEVICES)
    run = opgate("run", "--device", "sim", "--check", "value.layout", "opcheck", folder=folder)
    assert_refused(
        run,
        "the Python worker of the simulated device has other specs than this run was planned with",
        "has no sample '4'",
        "run again",
    )
