"""Several native workers share one plan: the same verdicts, and none is lost with a worker or at Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import FAST, Compiler, OpGate, assert_refused, complaints, read_results

LIBRARY = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>
#include <torch/library.h>
#include <unistd.h>
TORCH_LIBRARY(slow, m) {
  m.def("fine", [](const at::Tensor& x) { usleep(2000); return x.clone(); });
}
"""
SPEC = """
#include <ATen/ops/clone.h>
#include <opgate/spec.h>
#include <cstdlib>
#include <string>
#include <unistd.h>
using namespace opgate;
OPGATE_SPEC("slow::fine", spec) {
  spec.dtypes(c10::kCPU, floating());
  spec.reference([](const at::Tensor& x) { return x.clone(); });
  spec.accuracy(exact());
  for (int64_t size = 2; size < 42; ++size) spec.sample({uniform({size})});
  if (std::getenv("NAMED_BY_PROCESS") != nullptr) spec.named("process" + std::to_string(getpid()));
}
"""
SLOW = ["run", "--check", "value.layout", "effect", "--jobs", "3"]


@pytest.fixture(scope="module")
def slow_project(compiler: Compiler, new_project: Callable[..., Path]) -> Path:
    folder = new_project(libraries=["./libslow.so"], specs=["./libslow_specs.so"])
    compiler(LIBRARY, folder / "libslow.so")
    compiler(SPEC, folder / "libslow_specs.so", spec=True)
    return folder


@contextmanager
def running(command: list[str | Path], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in the background."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = subprocess.Popen([*map(str, command)], cwd=folder, text=True, **pipes)
    try:
        yield run
    finally:
        run.kill()
        run.communicate()


def native_workers(run: subprocess.Popen[str]) -> list[int]:
    """The process ids of a run's native workers."""
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    return [int(pid) for pid in children if b"\0worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def wait_for_cases(file: Path, count: int) -> None:
    """Until so many verdicts are written."""
    deadline = time.monotonic() + 120
    while not (file.exists() and file.read_text().count('"case"') > count):
        assert time.monotonic() < deadline, "no results after two minutes"
        time.sleep(0.01)


def test_any_number_of_workers_gives_the_same_verdicts(
    opgate: OpGate, identity_project: Callable[[], Path], tmp_path: Path
) -> None:
    project = identity_project()
    verdicts = []
    for jobs in (1, 3):
        output = tmp_path / str(jobs)
        run = opgate("run", *FAST, "--jobs", str(jobs), "--output", output, folder=project)
        assert (run.returncode, complaints(run)) == (0, [])
        verdicts.append(read_results(output).cases)
        assert len(list(output.glob("worker-native*.log"))) == jobs
    assert verdicts[0] == verdicts[1]


def test_no_more_workers_are_started_than_there_is_work_for(
    opgate: OpGate, identity_project: Callable[[], Path], tmp_path: Path
) -> None:
    words = ["run", "--check", "value.dtype", "--device", "cpu", "--jobs", "8", "--output", tmp_path]
    assert opgate(*words, folder=identity_project()).returncode == 0
    assert [file.name for file in tmp_path.glob("worker-native*")] == ["worker-native.log"]


def test_a_worker_that_is_killed_from_outside_costs_at_most_its_case(
    opgate: OpGate, slow_project: Path, tmp_path: Path
) -> None:
    with running([opgate.program, *SLOW, "--output", tmp_path], slow_project) as run:
        wait_for_cases(tmp_path / "results.jsonl", 30)
        workers = native_workers(run)
        assert len(workers) == 3
        os.kill(workers[1], signal.SIGKILL)
        out, _ = run.communicate(timeout=300)
    results = read_results(tmp_path)
    assert len(results.cases) == results.header["cases"]
    broken = [line for line in results.cases.values() if line["verdict"] != "pass"]
    assert len(broken) <= 1, "and none where it was killed before it had begun"
    for line in broken:
        assert line["verdict"] == "crash"
        assert "SIGKILL (Killed); it was killed from outside" in line["reason"]
    assert run.returncode == len(broken)
    assert f", {len(broken)} failed, " in out.splitlines()[-1]


def test_ctrl_c_ends_every_worker_and_loses_nothing(
    opgate: OpGate, slow_project: Path, tmp_path: Path
) -> None:
    with running([opgate.program, *SLOW, "--output", tmp_path], slow_project) as run:
        wait_for_cases(tmp_path / "results.jsonl", 30)
        workers = native_workers(run)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert len(workers) == 3
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
    results = read_results(tmp_path)
    assert results.finished is None
    assert f"interrupted after {len(results.cases)} of {results.header['cases']} cases" in err
    resumed = opgate(*SLOW, "--resume", "--output", tmp_path, folder=slow_project)
    assert (resumed.returncode, complaints(resumed)) == (0, [])
    assert len(read_results(tmp_path).cases) == results.header["cases"]


def test_a_plan_that_changes_from_process_to_process_is_refused(
    opgate: OpGate, slow_project: Path, tmp_path: Path
) -> None:
    words = ["run", "--check", "value.reference", "--output", tmp_path]
    result = opgate(*words, folder=slow_project, environment={"NAMED_BY_PROCESS": "1"})
    line = assert_refused(
        type(result)(result.args, result.returncode, "", result.stderr), "a worker plans other cases"
    )
    assert "the process id" in line
