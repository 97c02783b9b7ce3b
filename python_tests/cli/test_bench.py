"""opgate bench as a user calls it, on the operators of fixtures/bench; no measured number is asserted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import Completed, OpGate, assert_refused, complaints

# A ratio of six rounds is inaccurate, but quick.
QUICK = ["--rounds", "6", "--threads", "1"]
MEASURED = {"ratio", "interval", "rounds", "op_seconds", "baseline_seconds", "bytes", "copy_seconds"}


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    return new_project(libraries=["libopgate_bench_ops.so"])


Lines = list[dict[str, Any]]


def read_lines(file: Path) -> Lines:
    return [json.loads(line) for line in file.read_text().splitlines()]


def rows(lines: Lines) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    """The results by operator, bench, direction and device."""
    return {
        (line["op"], line["bench"], line["direction"], line["device"]): line for line in lines if "op" in line
    }


@pytest.fixture(scope="module")
def everything(
    opgate: OpGate, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Completed, Lines]:
    """A run of all benches on the CPU, and its file."""
    output = tmp_path_factory.mktemp("everything")
    run = opgate("bench", *QUICK, "--device", "cpu", "--output", output, folder=project)
    return run, read_lines(output / "bench.jsonl")


def test_each_bench_gets_its_verdict(everything: tuple[Completed, Lines]) -> None:
    run, lines = everything
    assert (run.returncode, complaints(run)) == (1, [])
    assert {key[:3]: line["verdict"] for key, line in rows(lines).items()} == {
        ("adds_one", "4", "forward"): "wrong answer",
        ("adds_one", "right", "forward"): "met",
        ("copies", "4x8", "forward"): "met",
        ("copies", "hopeless", "forward"): "missed",
        ("copies", "free", "forward"): "measured",
        ("copies", "itself", "forward"): "measured",
        ("doubles", "8x8", "forward"): "met",
        ("first_of", "4096x4096", "forward"): "measured",
        ("has_no_kernel", "4", "forward"): "raised",
        ("raises", "4", "forward"): "met",
        ("raises", "9", "forward"): "raised",
        ("raises", "against nothing", "forward"): "raised",
        ("triples", "8x8", "forward"): "met",
        ("triples", "8x8", "backward"): "met",
        ("triples", "other gradient", "forward"): "measured",
        ("triples", "other gradient", "backward"): "wrong answer",
    }


def test_a_line_of_the_file_has_figures_or_a_reason(everything: tuple[Completed, Lines]) -> None:
    header, *results, last = everything[1]
    assert {"opgate", "engine", "torch", "libraries", "started", "cores"} < header.keys()
    assert header["cases"] == len(results)
    assert last.keys() == {"finished"}
    for line in results:
        timed = line["verdict"] in ("met", "missed", "unclear", "measured")
        assert timed == (line.keys() >= MEASURED)
        assert timed != bool(line.get("reason"))
        if timed:
            low, high = line["interval"]
            assert 0 < low <= line["ratio"] <= high
            assert line["rounds"] == 6
    free = rows(everything[1])["copies", "free", "forward", "cpu"]
    assert (free["dtype"], free["threads"], free["bytes"]) == ("bfloat16", 1, 2 * 2 * 32)
    assert "limit" not in free


def test_a_rate_that_no_memory_has_is_not_shown(everything: tuple[Completed, Lines]) -> None:
    run, lines = everything
    line = rows(lines)["first_of", "4096x4096", "forward", "cpu"]
    assert line["copy_seconds"] > 8 * line["op_seconds"]
    (shown,) = (text for text in run.stdout.splitlines() if text.startswith("first_of"))
    assert shown.endswith("  impossible")
    assert "%" not in shown


def test_the_table_has_a_line_for_each_and_says_what_is_wrong(everything: tuple[Completed, Lines]) -> None:
    run, lines = everything
    text = run.stdout.splitlines()
    start = next(i for i, line in enumerate(text) if line.startswith("op "))
    table = text[start + 1 : start + 1 + len(lines) - 2]
    assert [(line.split()[0]) for line in table] == [line["op"] for line in lines[1:-1]]
    assert "\x1b" not in run.stdout, "colour is for terminals"
    below = "\n".join(text[start + len(table) :])
    assert (
        "wrong answer adds_one 4 float32 forward cpu\n  not timed; compared with the baseline (want)" in below
    )
    assert "missed copies hopeless float32 forward cpu, 1 thread\n  at most " in below
    assert "the operator raised: raises: 8 elements are too many" in below
    assert "the reference opgate_bench::no_such_op is not an operator of this process" in below
    assert "the gradient at `x`" in below
    assert below.count("fixtures/bench/ops.cpp:") == 6, "each is found"
    assert "registered at" not in below, "of torch's lists of kernels there is no end"
    assert text[-1] == "6 met, 1 missed, 4 measured, 2 wrong answer, 3 raised"


# Operators that only seem to be fast, and their honest twins; see fixtures/bench/cheats.cpp.
CHEATS = {
    "kept_by_address": "on other values than before",
    "kept_by_shape": "on other values than before",
    "eight_times": "on other values than before",
    "kept_by_first_values": "on other values than before",
    "first_half": "on other values than before",
    "detached": "",  # what shows first depends on the thread
}
HONEST = {
    *(
        "workspace_by_address",
        "count_by_shape",
        "way_by_first_values",
        "counts_calls",
        "joined",
        "two_halves",
    ),
}


@pytest.fixture(scope="module")
def cheats(opgate: OpGate, new_project: Callable[..., Path]) -> dict[str, dict[str, Any]]:
    project = new_project(libraries=["libopgate_bench_cheats.so"])
    run = opgate("bench", "--rounds", "31", "--threads", "1", folder=project)
    assert (run.returncode, complaints(run)) == (1, [])
    lines = read_lines(project / ".opgate" / "bench.jsonl")
    return {line["op"]: line for line in lines if "op" in line}


@pytest.mark.parametrize("operator", CHEATS)
def test_a_speed_that_is_none_is_refused(operator: str, cheats: dict[str, dict[str, Any]]) -> None:
    line = cheats[operator]
    assert line["verdict"] == "wrong answer", line
    assert CHEATS[operator] in line["reason"]
    assert not line.keys() & MEASURED


@pytest.mark.parametrize("operator", sorted(HONEST))
def test_an_honest_speed_is_told(operator: str, cheats: dict[str, dict[str, Any]]) -> None:
    assert cheats[operator]["verdict"] == "met", cheats[operator]


def test_limits_that_are_met_exit_with_0(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    run = opgate("bench", *QUICK, "--op", "doubles", "--output", tmp_path, folder=project)
    assert (run.returncode, complaints(run)) == (0, [])
    assert run.stdout.splitlines()[-1] == "1 met"


def test_what_was_not_chosen_is_not_measured(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    file = tmp_path / "a folder" / "my.jsonl"
    command = ["bench", "--rounds", "6", "--op", "tri*", "--direction", "backward", "--json", file]
    run = opgate(*command, "--threads", "1,1", folder=project)
    assert run.returncode == 1
    assert set(rows(read_lines(file))) == {
        ("triples", "8x8", "backward", "cpu"),
        ("triples", "other gradient", "backward", "cpu"),
    }
    assert not (project / ".opgate").exists()


def test_cuda_is_owed_without_a_gpu_and_fails_nothing(
    opgate: OpGate, project: Path, tmp_path: Path, has_gpu: bool
) -> None:
    if has_gpu:
        pytest.skip("there is a GPU")
    run = opgate("bench", *QUICK, "--op", "copies", "--device", "cuda", "--output", tmp_path, folder=project)
    assert run.returncode == 0
    results = rows(read_lines(tmp_path / "bench.jsonl"))
    assert {line["verdict"] for line in results.values()} == {"owed"}
    assert all("libcuda" in line["reason"] and "threads" not in line for line in results.values())
    assert run.stdout.splitlines()[-1].startswith("4 owed (owed: no NVIDIA driver")


@pytest.mark.parametrize(
    ("options", "fragments"),
    [
        (["--rounds", "5"], ["--rounds"]),
        (["--rounds", "x"], ["--rounds"]),
        (["--seconds", "0"], ["--seconds"]),
        (["--rounds", "6", "--seconds", "1"], ["--rounds", "--seconds"]),
        (["--threads", "0"], ["--threads"]),
        (["--threads", "1,4096"], ["--threads 4096", "cores"]),
        (["--direction", "sideways"], ["sideways"]),
        (["--device", "tpu"], ["tpu"]),
        (["--op", "no_such"], ["no op with a bench matches 'no_such'", "copies"]),
        (["--op", "doubles", "--direction", "backward"], ["nothing to measure"]),
        (["--config", "nowhere.toml"], ["nowhere.toml", "no such file"]),
        (["--json", "/dev/null/x"], ["/dev/null/x", "--json"]),
        (["--wrong"], ["--wrong"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_options_are_refused(
    options: list[str], fragments: list[str], opgate: OpGate, project: Path
) -> None:
    assert_refused(opgate("bench", *options, folder=project), *fragments)


def test_specs_without_a_bench_are_nothing_to_measure(
    opgate: OpGate, new_project: Callable[..., Path]
) -> None:
    project = new_project(libraries=["libopgate_version_1.so"], specs=["libopgate_versions_specs.so"])
    assert_refused(opgate("bench", folder=project), "no spec here has a bench", "docs/bench.md")


def test_ctrl_c_keeps_what_is_known(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    command = [
        opgate.program,
        "bench",
        "--op",
        "copies",
        "--device",
        "cpu",
        "--seconds",
        "3",
        "--threads",
        "1",
    ]
    run = subprocess.Popen(
        [*command, "--threads", "1", "--output", tmp_path],
        cwd=project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    file = tmp_path / "bench.jsonl"
    deadline = time.monotonic() + 1800
    while not (file.exists() and '"op"' in file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=1800)
    assert run.returncode == 130
    lines = read_lines(file)
    results = rows(lines)
    assert 0 < len(results) < 4
    assert "finished" not in lines[-1]
    assert err.splitlines()[-1] == (
        f"opgate: interrupted after {len(results)} of 4 measurements; they are in {file}"
    )
    assert "copies  4x8" in out, "the table of those that are known"


def test_help_says_what_a_ratio_is(opgate: OpGate) -> None:
    run = opgate("bench", "--help")
    assert run.returncode == 0
    assert "baseline time / operator time" in run.stdout


IN_PYTHON = """
import opgate
import torch


@opgate.spec("aten::clone")
def clone(spec: opgate.OpSpec) -> None:
    spec.dtypes(torch.float32, torch.float64, device="cpu")
    spec.accuracy(opgate.exact()).reference(lambda x, **_: x)
    spec.promises("differentiable").sample(opgate.uniform(4, 6))
    spec.bench(opgate.uniform(4, 8), against="aten::clone", forward=0.001, backward={"cpu": 0.001})
    hopeless = {"named": "hopeless", "dtype": torch.float64, "forward": 1000}
    spec.bench(opgate.uniform(2, 3), against="aten::clone", **hopeless)
"""


@pytest.fixture
def bench_in_python(
    opgate: OpGate, new_project: Callable[..., Path]
) -> Callable[[str], tuple[Completed, Path]]:
    """Runs the benches of a module with this text, in a folder of its own."""

    def run(text: str) -> tuple[Completed, Path]:
        folder = new_project(python=["clone_specs"], python_path=["."])
        (folder / "clone_specs.py").write_text(text)
        return opgate("bench", *QUICK, "--device", "cpu", folder=folder), folder

    return run


def test_benches_of_specs_in_python_are_measured(
    bench_in_python: Callable[[str], tuple[Completed, Path]],
) -> None:
    run, folder = bench_in_python(IN_PYTHON)
    assert run.returncode == 1, run
    lines = rows(read_lines(folder / ".opgate" / "bench.jsonl"))
    assert {key[1:3]: (line["dtype"], line["verdict"]) for key, line in lines.items()} == {
        ("4x8", "forward"): ("float32", "met"),
        ("4x8", "backward"): ("float32", "met"),
        ("hopeless", "forward"): ("float64", "missed"),
        ("hopeless", "backward"): ("float64", "measured"),
    }


@pytest.mark.parametrize(
    ("word", "wrong", "told"),
    [
        ('against="aten::clone", ', "", "the reference is a Python function, and is not timed"),
        ("forward=0.001", "forward=-1", "a speed limit is a ratio above 0"),
        ('{"cpu": 0.001}', '{"tpu": 0.001}', "tpu"),
    ],
)
def test_a_bench_in_python_that_cannot_be_timed_is_refused(
    bench_in_python: Callable[[str], tuple[Completed, Path]], word: str, wrong: str, told: str
) -> None:
    assert_refused(bench_in_python(IN_PYTHON.replace(word, wrong))[0], told)
