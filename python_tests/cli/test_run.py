"""`opgate run` with checks that take seconds: the table, the last line, results.jsonl, owed cases."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import FAST, FASTEST, PROGRESS, Completed, OpGate, complaints, read_results


@pytest.fixture(scope="module")
def project(identity_project: Callable[[], Path]) -> Path:
    return identity_project()


@pytest.fixture(scope="module")
def finished(opgate: OpGate, project: Path) -> Completed:
    """One run of the native checks on the CPU."""
    return opgate("run", *FAST, folder=project)


def counts(run: Completed) -> tuple[int, ...]:
    """Passed, failed and owed, from the last line."""
    found = re.match(r"(\d+) passed, (\d+) failed, (\d+) owed", run.stdout.splitlines()[-1])
    assert found is not None, run.stdout
    return tuple(map(int, found.groups()))


def test_a_correct_operator_exits_with_0(finished: Completed) -> None:
    assert (finished.returncode, complaints(finished)) == (0, [])


def test_the_first_line_says_what_is_run(finished: Completed) -> None:
    assert re.fullmatch(
        r"OpGate [\d.]+ · torch [\d.]+ · 1 operator, 18 checks, \d+ cases",
        finished.stdout.splitlines()[0],
    )


def test_the_table_has_a_column_a_group_of_checks_and_a_row_an_operator(finished: Completed) -> None:
    _, groups, row = finished.stdout[finished.stdout.index("\n\n") :].splitlines()[1:4]
    assert groups.split() == ["effect", "fake", "value"]
    assert row.split() == ["identity_conv", "cpu", "ok", "ok", "ok"]
    assert row.index("ok") == groups.index("effect")


def test_a_verbose_run_has_a_column_a_check(opgate: OpGate, project: Path) -> None:
    run = opgate(
        "run", "--verbose", "--check", "effect", "fake", "--device", "cpu", "--output", "all", folder=project
    )
    groups, names, row = run.stdout[
        run.stdout.rindex("\n\n", 0, run.stdout.rindex("identity_conv cpu")) :
    ].splitlines()[2:5]
    assert groups.split() == ["effect", "fake"]
    of_fake = ["accepted", "exists", "metadata", "refuses", "symbolic"]
    assert names.split() == ["alias", "copy_on_write", "mutation", "state", *of_fake]
    assert row.split() == ["identity_conv", "cpu", *["ok"] * 9]
    assert [row.index("ok"), names.index("alias")] == [groups.index("effect")] * 2


def test_the_last_line_counts(finished: Completed, project: Path) -> None:
    last = finished.stdout.splitlines()[-1]
    assert re.match(r"^\d+ passed, \d+ failed, \d+ owed", last)
    assert counts(finished) == (len(read_results(project / ".opgate").cases), 0, 0)


def test_the_results_hold_each_planned_case_once(opgate: OpGate, finished: Completed, project: Path) -> None:
    results = read_results(project / ".opgate")
    planned = opgate("list", "cases", *FAST, folder=project).stdout.splitlines()
    assert sorted(results.cases) == sorted(planned)
    assert results.header["cases"] == len(planned)
    assert re.fullmatch(r"[0-9a-f]{40}", results.header["plan"])
    assert re.fullmatch(r"[0-9a-f]{40}", results.header["libraries"])
    assert re.fullmatch(r"[0-9a-f]{40}", results.header["engine"])
    words = {
        "opgate",
        "engine",
        "torch",
        "plan",
        "cases",
        "started",
        "libraries",
        "sources",
        "devices",
        "costs",
        "shard",
        "filter",
        "capability",
        "subjects",
        "samples",
        "files",
        "inputs",
        "coverage",
        "folder",
        "modules",
        "revisions",
    }
    assert set(results.header) == words
    libraries = {Path(file).name for file in results.header["files"]}
    assert {"libopgate_ops.so", "libopgate_identity_specs.so"} <= libraries
    assert results.header["shard"] == "1/1"
    assert {line["verdict"] for line in results.cases.values()} == {"pass"}
    assert results.finished is not None
    when = [results.header["started"], results.finished["finished"]]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time) for time in when)
    assert when == sorted(when)


def test_a_pipe_gets_no_escape_codes(finished: Completed) -> None:
    assert "\033" not in finished.stdout + finished.stderr
    assert "\r" not in finished.stdout + finished.stderr


def test_cases_for_a_gpu_are_owed_with_the_reason_exactly_where_there_is_none(
    opgate: OpGate, project: Path, tmp_path: Path, has_gpu: bool
) -> None:
    run = opgate("run", "--check", "value.dtype", "--no-sim", "--output", tmp_path, folder=project)
    cases = read_results(tmp_path).cases
    on_cpu = [line for case, line in cases.items() if "/cpu/" in case]
    on_cuda = [line for case, line in cases.items() if "/cuda/" in case]
    assert run.returncode == 0
    assert len(on_cpu) == len(on_cuda) == 27
    assert {line["verdict"] for line in on_cpu} == {"pass"}
    assert {line["verdict"] for line in on_cuda} == ({"pass"} if has_gpu else {"owed"})
    assert all(bool(line.get("reason")) != has_gpu for line in on_cuda)
    assert counts(run) == ((54, 0, 0) if has_gpu else (27, 0, 27))
    if not has_gpu:
        assert f"owed: {on_cuda[0]['reason']}" in run.stdout.splitlines()[-1]


def test_the_configuration_is_found_from_a_folder_below(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    below = project / "some" / "folder"
    below.mkdir(parents=True)
    run = opgate("run", *FASTEST, "--output", tmp_path, folder=below)
    assert (run.returncode, counts(run)) == (0, (27, 0, 0))
    assert not (below / ".opgate").exists()


def test_the_output_is_a_folder_beside_the_configuration(
    opgate: OpGate, identity_project: Callable[[], Path], tmp_path: Path
) -> None:
    project = identity_project()
    assert opgate("run", *FASTEST, "--config", project / "opgate.toml", folder=tmp_path).returncode == 0
    assert read_results(project / ".opgate").finished
    assert list(tmp_path.iterdir()) == []


def test_a_relative_output_is_one_of_the_working_folder(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    command = ["run", *FASTEST, "--config", project / "opgate.toml", "--output", "a folder/of results"]
    assert opgate(*command, folder=tmp_path).returncode == 0
    assert len(read_results(tmp_path / "a folder" / "of results").cases) == 27


def test_a_finished_run_is_replaced_by_the_next(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    for _ in range(2):
        run = opgate("run", *FASTEST, "--output", tmp_path, folder=project)
        assert (run.returncode, complaints(run)) == (0, [])
    assert [file.name for file in tmp_path.glob("results*")] == ["results.jsonl"]
    assert len(read_results(tmp_path).cases) == 27


def test_results_are_whole_where_the_reader_leaves(
    opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    """`opgate run | head -1` reads only the first line, and closes its end of the pipe."""
    defects = new_project(libraries=["libopgate_defects.so"], specs=["libopgate_defects.so"])
    process = subprocess.Popen(
        [str(opgate.program), "run", "--check", "value.layout", "--output", tmp_path],
        cwd=defects,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith(b"OpGate ")
    process.stdout.close()
    said = process.stderr.read().decode()
    assert [line for line in said.splitlines() if not PROGRESS.match(line)] == []
    assert process.wait(timeout=1800) in (0, -signal.SIGPIPE)
    assert read_results(tmp_path).finished is not None


def test_one_case_can_be_reproduced(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    case = "identity_conv/float32/2x3x257/x=row-sliced/cpu/value.layout"
    result = opgate("repro", case, "--output", tmp_path, folder=project)
    assert (result.returncode, complaints(result)) == (0, [])
    assert "schema   opgate_ops::identity_conv(Tensor x) -> Tensor\n" in result.stdout
    assert (
        "shape [2, 3, 257] strides [780, 260, 1] offset 1 float32 of 1560 storage elements" in result.stdout
    )
    assert result.stdout.splitlines()[-1].startswith("PASS value.layout · identity_conv · float32 · 2x3x257")
    assert not (tmp_path / "results.jsonl").exists()


def test_the_short_options_are_those_of_pytest(
    opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    """-k, -x, --maxfail, --last-failed, -q, -v, --durations, on a library with three wrong operators."""
    folder = new_project(libraries=["libopgate_wrong.so"], specs=["libopgate_wrong_specs.so"])
    fast = ["-j", "1", "--check", "value.layout", "value.dtype", "--device", "cpu"]
    whole = opgate("run", *fast, "-v", folder=folder)
    verdicts = {case: line["verdict"] for case, line in read_results(folder / ".opgate").cases.items()}
    broken = {case for case, verdict in verdicts.items() if verdict == "fail"}
    assert broken
    assert len(broken) < len(verdicts)
    for case, verdict in verdicts.items():
        assert re.search(rf"^{verdict} +{re.escape(case)}$", whole.stdout, re.MULTILINE), case

    again = opgate("run", *fast, "--last-failed", "-q", "--durations", "1", folder=folder)
    assert again.returncode == 1, again
    assert set(read_results(folder / ".opgate").cases) == broken
    assert "OpGate " not in again.stdout
    assert f"0 passed, {len(broken)} failed" in again.stdout
    assert len(re.findall(r"^ +[\d.]+ s  \S+/cpu \(\d+ calls\)$", again.stdout, re.MULTILINE)) == 1

    opgate("run", *fast, "-k", "value.LAYOUT and not contiguous", folder=folder)
    chosen = {case for case in verdicts if "value.layout" in case and "contiguous" not in case}
    assert set(read_results(folder / ".opgate").cases) == chosen
    wrong = opgate("run", *fast, "-k", "value and", folder=folder)
    assert (wrong.returncode, complaints(wrong)) == (
        2,
        [
            "opgate: -k 'value and': a word is missing at its end; write words of case ids with and, or, "
            'not and parentheses, such as "relu and not value"'
        ],
    )


def test_a_run_stops_after_the_first_failure_and_can_be_resumed(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    folder = new_project(libraries=["libopgate_wrong.so"], specs=["libopgate_wrong_specs.so"])
    fast = ["-j", "1", "--check", "value", "--device", "cpu"]
    stopped = opgate("run", *fast, "-x", folder=folder)
    assert stopped.returncode == 1, stopped
    assert "stopped after 1 failure: " in stopped.stdout
    some = set(read_results(folder / ".opgate").cases)
    resumed = opgate("run", *fast, "--resume", folder=folder)
    assert resumed.returncode == 1, resumed
    every = set(read_results(folder / ".opgate").cases)
    assert some < every
