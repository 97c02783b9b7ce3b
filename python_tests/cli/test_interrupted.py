"""An interrupted run loses nothing: its results are kept, and --resume continues where it ended."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import FASTEST, OpGate, assert_refused, complaints, read_results

LONG = ["--check", "value.layout", "effect", "--jobs", "1"]


@pytest.fixture(scope="module")
def project(identity_project: Callable[[], Path]) -> Path:
    return identity_project()


@pytest.fixture(scope="module")
def finished_lines(opgate: OpGate, project: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines, with their ends, of a finished results.jsonl of 27 cases."""
    output = tmp_path_factory.mktemp("finished")
    assert opgate("run", *FASTEST, "--output", output, folder=project).returncode == 0
    return (output / "results.jsonl").read_text().splitlines(keepends=True)


def write(output: Path, text: str) -> Path:
    """Writes `text` as the results.jsonl of an output folder."""
    file = output / "results.jsonl"
    file.write_text(text)
    return file


def test_the_results_of_an_interrupted_run_are_kept_aside(
    opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    for number in (1, 2):
        cut = "".join(finished_lines[: 4 + number])
        write(tmp_path, cut)
        result = opgate("run", *FASTEST, "--output", tmp_path, folder=project)
        kept = tmp_path / f"results.interrupted-{number}.jsonl"
        assert result.returncode == 0
        assert kept.read_text() == cut
        assert str(kept) in result.stderr
        assert "--resume" in result.stderr
        assert len(read_results(tmp_path).cases) == 27


@pytest.mark.parametrize("cut_mid_line", [False, True])
def test_resume_keeps_what_is_known_and_runs_the_rest(
    cut_mid_line: bool, opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    # Marks the line; the mark would be lost if the case ran again.
    marked = [json.dumps({**json.loads(line), "reason": "marked"}) + "\n" for line in finished_lines[1:8]]
    rest = finished_lines[8][:20] if cut_mid_line else ""
    known = finished_lines[0] + "".join(marked)
    file = write(tmp_path, known + rest)
    result = opgate("run", "--resume", *FASTEST, "--output", tmp_path, folder=project)
    assert (result.returncode, complaints(result)) == (0, [])
    assert result.stdout.splitlines()[-1].startswith("27 passed, 0 failed, 0 owed")
    assert file.read_text().startswith(known)
    results = read_results(tmp_path)
    assert len(results.cases) == 27
    assert results.finished
    assert sum(line.get("reason") == "marked" for line in results.cases.values()) == 7


def test_resume_counts_a_failure_that_is_known(
    opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    ended = "SIGSEGV, yesterday"
    failure = {**json.loads(finished_lines[1]), "verdict": "crash", "reason": ended, "ended": ended}
    write(tmp_path, finished_lines[0] + json.dumps(failure) + "\n")
    result = opgate("run", "--resume", *FASTEST, "--output", tmp_path, folder=project)
    assert result.returncode == 1
    assert "SIGSEGV, yesterday" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("26 passed, 1 failed, 0 owed")


def test_resume_of_another_plan_is_refused(
    opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    file = write(tmp_path, "".join(finished_lines[:5]))
    result = opgate("run", "--resume", "--check", "value.layout", "--output", tmp_path, folder=project)
    assert_refused(result, str(file), "another plan", "27 cases", "without --resume")
    assert file.read_text() == "".join(finished_lines[:5])


def test_resume_of_verdicts_on_another_library_is_refused(
    opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    """The old verdicts do not hold for a kernel that was rebuilt since then."""
    header = {**json.loads(finished_lines[0]), "libraries": "0" * 40}
    file = write(tmp_path, json.dumps(header) + "\n" + "".join(finished_lines[1:5]))
    result = opgate("run", "--resume", *FASTEST, "--output", tmp_path, folder=project)
    assert_refused(result, str(file), "other builds of the libraries", "without --resume")


def test_resume_of_verdicts_by_another_engine_is_refused(
    opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    header = {**json.loads(finished_lines[0]), "engine": "0" * 40}
    file = write(tmp_path, json.dumps(header) + "\n" + "".join(finished_lines[1:5]))
    result = opgate("run", "--resume", *FASTEST, "--output", tmp_path, folder=project)
    assert_refused(result, str(file), "build of OpGate", "without --resume")


def test_resume_of_nothing_is_refused(
    opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    command = ["run", "--resume", *FASTEST, "--output", tmp_path]
    assert_refused(opgate(*command, folder=project), "nothing to resume", str(tmp_path / "results.jsonl"))
    write(tmp_path, "".join(finished_lines))
    assert_refused(opgate(*command, folder=project), "nothing to resume", "is complete")


@pytest.mark.parametrize("resume", [[], ["--resume"]], ids=["anew", "resume"])
@pytest.mark.parametrize(
    "text", ["", "garbage\n", "[]\n", '{"case": 1}\n', "HEADER\n\x00\x01\n", 'HEADER\n{"case": "a"}\n']
)
def test_what_is_no_results_file_is_named_and_left_alone(
    text: str, resume: list[str], opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    text = text.replace("HEADER\n", finished_lines[0])
    file = write(tmp_path, text)
    result = opgate("run", *resume, *FASTEST, "--output", tmp_path, folder=project)
    line = assert_refused(result, str(file))
    assert "no results file" in line or "not a line of OpGate's results" in line
    assert file.read_text() == text


def test_results_of_another_version_are_kept_and_not_continued(
    opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    header = json.loads(finished_lines[0])
    del header["engine"]
    file = write(tmp_path, json.dumps(header) + "\n" + "".join(finished_lines[1:]))
    old = file.read_text()
    command = ["run", *FASTEST, "--output", tmp_path]
    assert_refused(opgate(*command, "--resume", folder=project), str(file), "another version of OpGate")
    result = opgate(*command, folder=project)
    kept = tmp_path / "results.interrupted-1.jsonl"
    assert complaints(result) == [f"opgate: the results of another version of OpGate are kept as {kept}"]
    assert (result.returncode, kept.read_text()) == (0, old)


@pytest.mark.parametrize("lines", [None, 5], ids=["finished", "unfinished"])
def test_a_file_that_another_run_is_writing_is_left_alone(
    lines: int | None, opgate: OpGate, project: Path, finished_lines: list[str], tmp_path: Path
) -> None:
    text = "".join(finished_lines[:lines])
    file = write(tmp_path, text)
    with file.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = opgate("run", *FASTEST, "--output", tmp_path, folder=project)
        assert_refused(result, "another run is writing", str(file), "--output")
    assert file.read_text() == text
    assert [path.name for path in tmp_path.glob("results*")] == ["results.jsonl"]


def test_ctrl_c_keeps_the_results_and_names_resume(
    opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    """Its worker stops after some calls, so that it cannot have finished."""
    project = new_project(libraries=["libopgate_slow.so"], specs=["libopgate_slow_specs.so"])
    hold = tmp_path / "hold"
    hold.touch()
    command = [opgate.program, "run", *LONG, "--output", tmp_path]
    run = subprocess.Popen(
        command,
        cwd=project,
        env={**os.environ, "SLOW_HOLD": str(hold)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    file = tmp_path / "results.jsonl"
    deadline = time.monotonic() + 1800
    while not (file.exists() and file.read_text().count('"case"') > 10) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=1800)
    assert run.returncode == 130
    line = err.splitlines()[-1]
    assert line.startswith("opgate: ")
    results = read_results(tmp_path)
    assert results.finished is None
    assert 10 < len(results.cases) < results.header["cases"]
    assert f"interrupted after {len(results.cases)} of {results.header['cases']} cases" in line
    assert "--resume" in line

    resumed = opgate("run", "--resume", *LONG, "--output", tmp_path, folder=project)
    assert (resumed.returncode, complaints(resumed)) == (0, [])
    assert len(read_results(tmp_path).cases) == results.header["cases"]
