"""The Python worker as a process: one JSON object a line, commands on stdin, answers on descriptor 3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import opgate as opgate_package
import pytest

CALL = "identity_conv/float32/4x8/contiguous/cpu"

PRINTING_MODEL = """
import os, sys, torch, opgate

class Loud(torch.nn.Module):
    def forward(self, x):
        print('{"ran": "nothing"}', flush=True)
        os.write(1, b'{"ran": "nothing"}\\n')
        print("loud", file=sys.stderr)
        return x + 1

@opgate.model("Loud")
def loud(spec):
    spec.module(Loud)
    spec.dtypes(torch.float32)
    spec.sample(opgate.uniform(3))
    spec.graph("aten.add.Tensor")
    spec.reference(lambda x: x + 1)
"""

REGISTERING = """
import torch
from torch import Tensor

def twice(x: Tensor) -> Tensor:
    return 2 * x

def write(x: Tensor) -> None:
    x.zero_()

bare = torch.library.custom_op("registering::bare", twice, mutates_args=())
full = torch.library.custom_op(
    "registering::full", twice, mutates_args=(), device_types="cpu", tags=(torch.Tag.core,)
)
full.register_fake(torch.empty_like)
full.register_autograd(lambda ctx, gradient: 2 * gradient)
full.register_vmap(lambda info, dims, x: (2 * x, dims[0]))
full.register_autocast("cpu", torch.float32)
writes = torch.library.custom_op("registering::writes", write, mutates_args=("x",))
library = torch.library.Library("registering", "FRAGMENT")
library.define("plain.overload(Tensor x) -> Tensor")
library.impl("plain.overload", twice, "CPU")
torch.library.register_vmap("opgate_ops::identity_conv", lambda info, dims, *more: None)

import opgate

for name in ("bare", "full", "plain.overload", "writes"):
    @opgate.spec(f"registering::{name}")
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").draft().sample(opgate.uniform(4))
"""


@dataclass
class Worker:
    """A running worker."""

    process: subprocess.Popen[str]
    answers: IO[str]
    doing: list[str] = field(default_factory=list)  # what it reported before its last answer

    def ask(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        self.doing = []
        while "doing" in (message := json.loads(self.answers.readline())):
            self.doing.append(message["doing"])
        return message

    def leave(self) -> tuple[int, str, str]:
        """Closes the worker's input; returns exit status, stdout and stderr."""
        out, err = self.process.communicate(timeout=1800)
        return self.process.returncode, out, err


@contextmanager
def worker(python_path: Path | None = None) -> Iterator[Worker]:
    """Starts `python -m opgate` with a pipe as its descriptor 3."""
    read_end, write_end = os.pipe()
    folders = [python_path, Path(opgate_package.__file__).parents[1]]
    environment = {**os.environ, "PYTHONPATH": ":".join(str(folder) for folder in folders if folder)}
    process = subprocess.Popen(
        ["bash", "-c", 'exec "$0" -m opgate 3>&"$1"', sys.executable, str(write_end)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[write_end],
        env=environment,
        text=True,
    )
    os.close(write_end)
    with os.fdopen(read_end, encoding="utf-8") as answers:
        try:
            yield Worker(process, answers)
        finally:
            process.kill()
            process.communicate()


def setup_of(build: Path, folder: Path) -> dict[str, Any]:
    """The first command for a worker that knows identity_conv, with packages in this folder."""
    return {
        "libraries": [str(build / "lib" / "libopgate_ops.so")],
        "specs": [str(build / "lib" / "libopgate_ops_specs.so")],
        "modules": [],
        "packages": str(folder / "packages"),
        "models": [],
        "regressions": "",
        "recorded": "",
        "samples": "",
        "outputs": "",
        "namespaces": {},
        "mutant": 0,
        "simulated": False,
        "memory": 64 << 30,
    }


@pytest.fixture
def setup(build: Path, tmp_path: Path) -> dict[str, Any]:
    return setup_of(build, tmp_path)


@pytest.fixture(scope="module")
def ready(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Worker, dict[str, Any]]]:
    """A worker that is set up, and what it answered; tests ask it for calls of their own."""
    with worker() as python:
        setup = setup_of(build, tmp_path_factory.mktemp("ready"))
        yield python, python.ask({"setup": setup})["ready"]


def test_a_worker_introduces_itself_judges_and_leaves(setup: dict[str, Any]) -> None:
    with worker() as python:
        ready = python.ask({"setup": setup})["ready"]
        assert {"aoti.python", "export.graph", "opcheck"} <= {check["id"] for check in ready["checks"]}
        assert ready["models"] == []
        assert ready["registered"] == {}, "no module registers kernels"
        answer = python.ask({"run": CALL, "checks": ["opcheck", "export.graph"]})
        passed = {"verdict": "pass"}
        assert answer == {"ran": CALL, "judgements": {"opcheck": passed, "export.graph": passed}}
        assert python.leave() == (0, "", "")


def test_each_check_describes_itself_in_full(ready: tuple[Worker, dict[str, Any]]) -> None:
    for check in ready[1]["checks"]:
        assert check["id"].strip()
        assert all(check["explanation"][word].strip() for word in ("promise", "why", "fix", "example"))
        variants = {"contiguous", "rearranged", "resized", "same_sizes", "packaged", "every", "bad"}
        assert check["variants"] in variants


def test_a_package_that_was_never_made_is_a_failed_case(ready: tuple[Worker, dict[str, Any]]) -> None:
    judgement = ready[0].ask({"run": CALL, "checks": ["aoti.python"]})["judgements"]["aoti.python"]
    assert judgement["verdict"] == "fail"
    assert "no package was made in this run" in judgement["happened"]


def test_an_operator_that_prints_does_not_disturb_the_answers(setup: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "loud_model.py").write_text(PRINTING_MODEL)
    with worker(tmp_path) as python:
        ready = python.ask({"setup": {**setup, "modules": ["loud_model"]}})["ready"]
        assert [model["name"] for model in ready["models"]] == ["Loud"]
        call = "Loud/float32/3/contiguous/cpu"
        answer = python.ask({"run": call, "checks": ["export.graph"]})
        assert answer == {"ran": call, "judgements": {"export.graph": {"verdict": "pass"}}}
        status, out, err = python.leave()
    assert (status, set(out.splitlines())) == (0, {'{"ran": "nothing"}'})
    assert "loud" in err


def test_a_worker_tells_what_its_modules_register(setup: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "registering.py").write_text(REGISTERING)
    with worker(tmp_path) as python:
        registered = python.ask({"setup": {**setup, "modules": ["registering"]}})["ready"]["registered"]
    files = {name: registration.pop("files", []) for name, registration in registered.items()}
    assert str(tmp_path / "registering.py") in files["registering::full"]
    compliant = ["pt2_compliant_tag"]
    full = ["AutocastCPU", "FuncTorchBatched", "CPU", "Meta", "Autograd"]  # in the order of DispatchKey
    assert registered["registering::full"] == {"kernels": full, "tags": ["core", *compliant], "fake": True}
    # PyTorch registers a fake kernel and a derivative, too, which raise.
    assert registered["registering::bare"] == {
        "kernels": ["CompositeExplicitAutograd"],
        "tags": compliant,
        "fake": False,
    }
    # An operator that returns nothing needs no fake kernel of its own.
    assert "Meta" in registered["registering::writes"]["kernels"]
    assert "Autograd" not in registered["registering::writes"]["kernels"]
    assert registered["registering::plain.overload"] == {"kernels": ["CPU"], "tags": [], "fake": False}
    assert "FuncTorchBatched" in registered["opgate_ops::identity_conv"]["kernels"]


@pytest.mark.parametrize(
    ("command", "fragments"),
    [
        (
            {"run": CALL.replace("4x8", "5x5"), "checks": ["opcheck"]},
            ["has other specs than this run was planned with", "no sample '5x5'", "run again"],
        ),
        ({"run": CALL, "checks": ["no.check"]}, ["OpGate itself failed", "no.check", "judge_call.py:"]),
        ({"run": CALL}, ["OpGate itself failed", "KeyError: 'checks'", "worker.py:"]),
    ],
    ids=["a sample that the worker does not know", "no such check", "no checks"],
)
def test_an_error_of_opgate_is_one_of_the_run_and_of_no_operator(
    command: dict[str, Any], fragments: list[str], setup: dict[str, Any]
) -> None:
    with worker() as python:
        python.ask({"setup": setup})
        answer = python.ask(command)
        assert set(answer) == {"broken"}
        for fragment in fragments:
            assert fragment in answer["broken"]
        assert python.leave()[0] == 2


def test_a_worker_reports_which_check_it_begins(ready: tuple[Worker, dict[str, Any]]) -> None:
    python, _ = ready
    python.ask({"run": CALL, "checks": ["opcheck", "export.graph"]})
    assert python.doing == [f"{CALL}/opcheck", f"{CALL}/export.graph"]


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        ({"libraries": ["/nowhere/libgone.so"]}, ["/nowhere/libgone.so", "is missing"]),
        ({"specs": ["/nowhere/libgone_specs.so"]}, ["/nowhere/libgone_specs.so", "is missing"]),
        ({"modules": ["no_such_module"]}, ["no_such_module", "ModuleNotFoundError"]),
        ({"modules": ["raises"]}, ["raises", "ZeroDivisionError"]),
        ({"modules": ["unfinished"]}, ["unfinished", "unfinished.py:2", "names no module"]),
    ],
    ids=["library", "specs", "no module", "a module that raises", "an unfinished model"],
)
def test_a_broken_setup_is_named_and_ends_the_worker(
    change: dict[str, list[str]], fragments: list[str], setup: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "raises.py").write_text("1 / 0\n")
    (tmp_path / "unfinished.py").write_text('import opgate\n@opgate.model("M")\ndef m(spec):\n    pass\n')
    with worker(tmp_path) as python:
        answer = python.ask({"setup": {**setup, **change}})
        assert set(answer) == {"broken"}
        for fragment in fragments:
            assert fragment in answer["broken"]
        assert "\n" not in answer["broken"]
        assert python.leave() == (2, "", "")


def test_no_setup_at_all_ends_the_worker() -> None:
    with worker() as python:
        assert python.leave()[0] == 2
        assert python.answers.read() == ""
