"""A hang, a crash or a missing compiler while packages are made is reported and affects no other operator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, read_results

MODULE = """
import os
import time
import traceback

import opgate
import torch


def operator(name, fake, before=lambda: None, further=()):
    @torch.library.custom_op(f"bad_exports::{name}", mutates_args=())
    def made(x: torch.Tensor) -> torch.Tensor:
        before()
        return x.clone(memory_format=torch.contiguous_format)

    made.register_fake(fake)

    @opgate.spec(f"bad_exports::{name}")
    def promise(spec: opgate.OpSpec) -> None:
        spec.dtypes(torch.float32, device="cpu").reference("aten::clone").accuracy(opgate.exact())
        spec.sample(opgate.uniform(4, 6))
        for rows in further:
            spec.sample(opgate.uniform(rows, 3))


def empty(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def abort_in_a_package():
    if any(frame.name == "run_package" for frame in traceback.extract_stack()):
        os.abort()


operator("a_good_one", empty)
operator("dies_when_called", empty, before=os.abort)
operator("dies_in_its_package", empty, before=abort_in_a_package)
operator("dies", lambda x: os.abort(), further=(2, 3))
operator("hangs", lambda x: time.sleep(1e6))
operator("one_more", empty)
operator("dies_for_three_rows", lambda x: os.abort() if len(x) == 3 else empty(x), further=(2, 3))
"""


@pytest.fixture
def project(new_project: Callable[..., Path]) -> Path:
    folder = new_project(python=["bad_exports_specs"], python_path=["."])
    (folder / "bad_exports_specs.py").write_text(MODULE)
    return folder


@pytest.mark.exhaustive
def test_what_dies_or_hangs_in_a_package_costs_its_own_operator_alone(opgate: OpGate, project: Path) -> None:
    words = ["--check", "aoti.python", "--case", "*/contiguous/*", "--python-time-limit", "60"]
    result = opgate("run", *words, folder=project, timeout=1800)
    assert result.returncode == 1, result
    cases = read_results(project / ".opgate").cases
    by_rows = {case for case in cases if case.startswith("dies_for_three_rows/")}
    of_one_call = {case: line for case, line in cases.items() if "/4x6/" in case}
    verdicts = {case.split("/")[0]: line["verdict"] for case, line in of_one_call.items()}
    good = {"a_good_one": "pass", "one_more": "pass"}
    bad = dict.fromkeys(("dies", "hangs", "dies_in_its_package"), "fail")
    good |= {"dies_for_three_rows": "pass"}
    assert verdicts == good | bad | {"dies_when_called": "crash"}, "it dies where the check calls it, too"
    said: dict[str, str] = {}
    for case, line in cases.items():
        op = case.split("/")[0]
        said[op] = f"{said.get(op, '')}\n{line.get('happened', '')}"
    assert "cannot be exported: the python worker ended: SIGABRT" in said["dies"]
    assert "the package does not run: the python worker ended: SIGABRT" in said["dies_in_its_package"]
    assert "cannot be exported: it took longer than 60 s" in said["hangs"]
    assert "--python-time-limit" in said["hangs"]

    owed = {case.split("/")[0]: line["reason"] for case, line in cases.items() if line["verdict"] == "owed"}
    assert set(owed) == {"dies"}, "after two the rest is left"
    assert owed["dies"].startswith("the call was not exported: 2 others of bad_exports::dies ended")
    failed = {case.split("/")[2] for case in by_rows if cases[case]["verdict"] == "fail"}
    assert failed == {"3x3"}, "the other samples of the operator are packaged"


@pytest.mark.exhaustive
def test_with_a_broken_compiler_the_packages_are_missed_and_nothing_else(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    def run(name: str) -> Completed:
        compiler = tmp_path / name
        if not compiler.exists():  # a file with another time is another compiler
            compiler.write_text("#!/bin/sh\nexit 1\n")
        compiler.chmod(0o755)
        return opgate(
            "run",
            *("--op", "a_good_one", "--check", "aoti.python", "value.layout"),
            folder=project,
            environment={"CXX": str(compiler), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")},
            timeout=1800,
        )

    result = run("broken-g++")
    assert result.returncode == 1, result
    by_check: dict[str, set[str]] = {}
    for case, line in read_results(project / ".opgate").cases.items():
        by_check.setdefault(case.rpartition("/")[2], set()).add(line["verdict"])
    assert by_check == {"aoti.python": {"fail"}, "value.layout": {"pass"}}
    assert "AOTInductor cannot compile the package" in result.stdout
    assert "/broken-g++" in result.stdout
    assert "as in an earlier run" not in result.stdout
    again = run("broken-g++")
    assert "as in an earlier run of the same files" in again.stdout, "it is not compiled again"
    assert again.returncode == 1, again
    other = run("broken-clang++")
    assert "/broken-clang++" in other.stdout
    assert "as in an earlier run" not in other.stdout
