"""On a machine without a C++ compiler, what torch would compile is owed, and nothing else."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from harness import OpGate, read_results

CALLS = """
import torch
torch.ops.load_library("libseen.so")
torch.ops.seen.pick(torch.rand(4, 6), torch.tensor([3, 0, 3]), [0.5])
"""


@pytest.mark.long
def test_compiled_cases_are_owed(seen_library: Path, opgate: OpGate, tmp_path: Path) -> None:
    shutil.copy(seen_library, tmp_path / "libseen.so")
    assert opgate("record", "--", sys.executable, "-c", CALLS, folder=tmp_path).returncode == 0
    checks = ["--check", "aoti", "compile.equal", "opcheck", "value.layout"]
    run = opgate("run", *checks, folder=tmp_path, environment={"CXX": "no-such-c++"})
    assert run.returncode == 0, run
    cases = read_results(tmp_path / ".opgate").cases
    for case, line in cases.items():
        compiled = "/aoti." in case or case.endswith("/compile.equal")
        assert line["verdict"] == ("owed" if compiled else "pass"), (case, line)
    reason = "the C++ compiler no-such-c++, which CXX names, is not installed here"
    assert reason in run.stdout
