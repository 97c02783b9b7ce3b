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
from harness import FAST, OpGate, assert_refused, complaints, read_results

SLOW = ["run", "--check", "value.layout", "effect", "--jobs", "3"]


@pytest.fixture(scope="module")
def slow_project(new_project: Callable[..., Path]) -> Path:
    return new_project(libraries=["libopgate_slow.so"], specs=["libopgate_slow_specs.so"])


@contextmanager
def running(command: list[str | Path], folder: Path, hold: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in the background, whose workers stop after some calls for as long as `hold` exists."""
    hold.touch()
    run = subprocess.Popen(
        [*map(str, command)],
        cwd=folder,
        env={**os.environ, "SLOW_HOLD": str(hold)},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield run
    finally:
        run.kill()
        run.communicate()


def native_workers(run: subprocess.Popen[str]) -> list[int]:
    """The process ids of a run's native workers. The process from which they are forked is older."""
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    workers = [int(pid) for pid in children if b"\0worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return workers[1:]


def wait_for_workers(run: subprocess.Popen[str], file: Path, count: int) -> list[int]:
    """Waits until this many native workers run and some verdicts are written; returns the process ids."""
    deadline = time.monotonic() + 1800
    while True:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline, "no results after half an hour"
        workers = native_workers(run)
        if len(workers) == count and file.exists() and '"case"' in file.read_text():
            return workers
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
    hold = tmp_path / "hold"
    with running([opgate.program, *SLOW, "--output", tmp_path], slow_project, hold) as run:
        workers = wait_for_workers(run, tmp_path / "results.jsonl", 3)
        os.kill(workers[1], signal.SIGKILL)
        hold.unlink()
        out, _ = run.communicate(timeout=1800)
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
    hold = tmp_path / "hold"
    with running([opgate.program, *SLOW, "--output", tmp_path], slow_project, hold) as run:
        workers = wait_for_workers(run, tmp_path / "results.jsonl", 3)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=1800)
    assert run.returncode == 130
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
