"""`opgate sim -- pytest`: each test ends with what the simulated devices found while it ran."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from harness import OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")

TESTS = """
import ctypes
import os
import subprocess
import sys

import pytest

cuda = ctypes.CDLL(None)

def mistake():
    subprocess.run([PROGRAM, "past-the-end"], check=False)

@pytest.fixture
def prepared():
    mistake()

def test_right():
    assert cuda.cudaSetDevice(1) == 0

def test_shows_that_cuda_refuses():
    assert cuda.cudaSetDevice(99) != 0

@pytest.mark.parametrize("text", ['"', "a (b)"])
def test_wrong(text):
    mistake()

def test_wrong_here():
    data = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(data), ctypes.c_size_t(400))
    cuda.cudaFree(data)
    cuda.cudaFree(data)

def test_wrong_and_fails():
    mistake()
    assert False

def test_wrong_before_it(prepared):
    pass

def test_needs_what_is_not_simulated():
    assert cuda.cudaGraphExecGetFlags(None, None) == 0

def test_needs_it_again():
    assert cuda.cudaGraphExecGetFlags(None, None) == 0

def test_can_do_without():
    cuda.cudaGraphExecGetFlags(None, None)

def test_fails_by_itself():
    assert "right" == "wrong"

@pytest.mark.xfail(strict=True)
def test_is_known_to_fail():
    mistake()
    assert False

def test_starts_python_without_the_plugin():
    assert "PYTEST_PLUGINS" not in os.environ
    subprocess.run([sys.executable, "-I", "-m", "pytest", "--version"], check=True)
"""

ENDS = {
    "test_right": "passed",
    "test_shows_that_cuda_refuses": "passed",
    "test_wrong": "failed",
    "test_wrong_here": "failed",
    "test_wrong_and_fails": "failed",
    "test_wrong_before_it": "error",
    "test_needs_what_is_not_simulated": "skipped",
    "test_needs_it_again": "skipped",
    "test_can_do_without": "passed",
    "test_fails_by_itself": "failed",
    "test_is_known_to_fail": "xfailed",
    "test_starts_python_without_the_plugin": "passed",
}


@pytest.fixture
def suite(build: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "their tests"
    folder.mkdir()
    text = f"PROGRAM = {str(build / 'bin' / 'opgate_cuda_program')!r}\n{TESTS}"
    (folder / "test_device.py").write_text(text)
    return folder


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_each_test_ends_with_what_was_found_in_it(
    opgate: OpGate, suite: Path, options: tuple[str, ...]
) -> None:
    pytest_here = [sys.executable, "-m", "pytest", "-v", "-rA", "-p", "no:cacheprovider", *options]
    run = opgate("sim", "--seconds", "0", "--report", "r.jsonl", "--", *pytest_here, folder=suite)
    ends = re.findall(r"^(PASSED|FAILED|ERROR|XFAIL) test_device.py::(\w+)", run.stdout, re.MULTILINE)
    words = {"XFAIL": "xfailed"}
    expected = {name: end for name, end in ENDS.items() if end != "skipped"}
    assert {name: words.get(end, end.lower()) for end, name in ends} == expected, run
    assert run.returncode == 1
    counts = Counter(ENDS.values()) + Counter({"failed": 1})  # test_wrong has two cases
    shown = ", ".join(f"{counts[end]} {end}" for end in ("failed", "passed", "skipped", "xfailed"))
    assert f"{shown}, 1 error" in run.stdout
    owed = re.findall(r"SKIPPED \[\d\] test_device.py:\d+: (.*)", run.stdout)
    assert (
        owed
        == ["owed: not simulated: cudaGraphExecGetFlags; the test fails: AssertionError: assert 801 == 0"] * 2
    )
    assert "Warning" not in run.stdout
    shown = run.stdout.partition("test_wrong[a (b)] ____")[2].partition("Captured")[0]
    first = r"^opgate sim: memory: .*: past the end of an allocation of 400 bytes by 4: .*\n"
    assert re.search(
        first + r"   kernel   .*::twice\(.*\n   at .*cuda_program.cu:\d+$", shown, re.MULTILINE
    ), run
    tests = {json.loads(line).get("test") for line in (suite / "r.jsonl").read_text().splitlines()}
    assert {'test_device.py::test_wrong["]', "test_device.py::test_wrong[a (b)]"} <= tests
    of_summary = re.findall(r"^   test +test_device.py::(\w+)", run.stderr, re.MULTILINE)
    assert {"test_wrong_here", "test_shows_that_cuda_refuses"} <= set(of_summary), run
    assert re.search(r"^   test +test_device.py::test_w.* and 4 more$", run.stderr, re.MULTILINE), run


def test_a_suite_without_findings_ends_as_usual(opgate: OpGate, suite: Path) -> None:
    run = opgate("sim", "--seconds", "0", "--", sys.executable, "-m", "pytest", "-k", "right", folder=suite)
    assert run.returncode == 0, run
    assert "1 passed" in run.stdout
    assert "nothing found" in run.stderr


LARGE = """
import ctypes

def allocate():
    return ctypes.CDLL(None).cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(100))

def test_takes_too_much():
    large = b"x" * (400 << 20)
    assert allocate() == 0

def test_takes_little():
    assert allocate() == 0
"""


def test_too_much_memory_costs_one_test(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "test_large.py").write_text(LARGE)
    words = ["sim", "--seconds", "0", "--memory", "300M", "--", sys.executable, "-m", "pytest", "-rs"]
    run = opgate(*words, folder=tmp_path)
    assert "1 passed, 1 skipped" in run.stdout, run
    assert "owed: not simulated: a process that takes more than 0.3 GB of this machine's memory" in run.stdout
    assert run.returncode == 0
