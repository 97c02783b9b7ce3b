"""`opgate mutate` on a kernel that is written in PTX, on the simulated device."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from harness import OpGate

pytestmark = pytest.mark.long


def test_mistakes_in_ptx_are_noticed(opgate: OpGate, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "some rows"
    shutil.copytree(source / "fixtures" / "mutation_ptx", folder)
    run = opgate("mutate", "--check", "value", "memory", "run", folder=folder)
    assert run.returncode == 0, run
    lines = (folder / ".opgate" / "mutants.jsonl").read_text().splitlines()
    mutants = [json.loads(line) for line in lines]
    fates = {(each["original"], each["mutated"]): each["fate"] for each in mutants}
    assert fates["mul.f32 %f3, %f1, %f2;", "add.f32 %f3, %f1, %f2;"] == "killed"
    assert fates["setp.ge.u32 %p1, %r4, %r5;", "setp.gt.u32 %p1, %r4, %r5;"] == "killed"
    assert fates["@%p1 bra $DONE;", ""] == "killed"
    assert fates["mov.u32 %r1, %ctaid.x;", "mov.u32 %r1, %ctaid.y;"] == "killed"
    (atomic,) = (each for each in mutants if each["kind"] == "atomic")
    assert atomic["killer"]["case"].endswith("/run.race")
    assert not [each for each in mutants if each["fate"] in ("survived", "not reached")], run
    assert {each["function"] for each in mutants} == {"scale_rows"}
