"""Integer tensors of a recording may be indices: a draft notes where the operator does not check them."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from harness import OpGate, read_results

CALLS = """
import torch
torch.ops.load_library("libslots.so")
x, slots = torch.rand(8, 16), torch.tensor([0, 3, -1, 2])
torch.ops.slots.write_(x, torch.rand(4, 16), slots)
for name in ("unchecked", "checked", "clamped", "aborting"):
    getattr(torch.ops.slots, name)(x, slots.clamp(0))
"""
SPEC = """
import opgate

@opgate.spec("slots::unchecked")
def unchecked(spec):
    DRAFT
    spec.dtypes("float32", device="cpu")
    spec.sample(opgate.uniform(8, 16), opgate.values([0, 3, 2], shape=(3,)).of("int64"))
"""
CHECK = ["run", "--check", "error.raises", "--device", "cpu"]


@pytest.fixture(scope="module")
def recorded(build: Path, opgate: OpGate, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slots") / "a user's folder"
    folder.mkdir()
    shutil.copy(build / "lib" / "libopgate_slots.so", folder / "libslots.so")
    done = opgate("record", "--", sys.executable, "-c", CALLS, folder=folder)
    assert done.returncode == 0, done
    return folder


def notes(printed: str) -> dict[str, str]:
    """The notes of error.raises, by operator."""
    lines = [
        line.split(": ", 1) for line in printed.splitlines() if re.search(r"\(error\.raises \d+\)$", line)
    ]
    return {op.strip(): text for op, text in lines}


def test_each_unchecked_index_is_one_note(recorded: Path, opgate: OpGate) -> None:
    run = opgate(*CHECK, folder=recorded)
    assert run.returncode == 0, run
    told = notes(run.stdout)
    assert set(told) == {"write_", "unchecked", "aborting"}, run.stdout
    assert told["write_"].startswith(
        "`slots` is not checked: where one element is -2, memory outside of `x` is written; "
    )
    # Those far past the end as well, and no neighbour of the block in the worker's heap is met.
    assert told["write_"].endswith("(error.raises 5)")
    assert "ended" not in told["write_"]
    assert 'say spec.trusts("slots")' in told["write_"]
    assert "where one element is -1, memory outside of the arguments is read" in told["unchecked"]
    assert "where one element is -1, the native worker ended: " in told["aborting"]
    assert {line["verdict"] for line in read_results(recorded / ".opgate").cases.values()} == {"pass"}


def test_a_refusal_that_no_caller_can_catch_is_a_defect(
    recorded: Path, build: Path, opgate: OpGate, tmp_path: Path
) -> None:
    """The index is checked, but the exception leaves a thread, and the process ends."""
    folder = shutil.copytree(recorded, tmp_path / "threaded")
    program = CALLS.replace("for name in (", 'for name in ("threaded", ')
    assert opgate("record", "--", sys.executable, "-c", program, folder=folder).returncode == 0
    run = opgate(*CHECK, "--op", "threaded", "-q", folder=folder)
    assert run.returncode == 1, run
    assert re.search(
        r"^ 1 threaded on cpu, memory: it ends the process: an exception that is not caught",
        run.stdout,
        re.M,
    )
    assert (
        "an exception leaves a thread, an OpenMP region or a noexcept function, where no code can catch it: "
        "slots[2] is out of range: -1" in run.stdout
    )
    assert "is not checked" not in run.stdout


def test_strict_wants_no_note_of_a_fault(recorded: Path, opgate: OpGate) -> None:
    strict = opgate(*CHECK, "--strict", "--output", "strict", folder=recorded)
    assert strict.returncode == 1, strict
    assert "--strict wants none" in strict.stdout.splitlines()[-1]
    few = opgate(*CHECK, "--strict", "--op", "checked", "clamped", "--output", "few", folder=recorded)
    assert few.returncode == 0, few


@pytest.mark.parametrize(
    ("draft", "status", "told"),
    [("spec.draft().trusts('slots')", 0, False), ("spec.draft()", 1, True)],
)
def test_a_spec_decides(
    recorded: Path, opgate: OpGate, tmp_path: Path, draft: str, status: int, told: bool
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(recorded / "libslots.so", folder / "libslots.so")
    (folder / "my_specs.py").write_text(SPEC.replace("DRAFT", draft))
    (folder / "opgate.toml").write_text(
        'libraries = ["./libslots.so"]\npython = ["my_specs"]\npython_path = ["."]\n'
    )
    run = opgate(*CHECK, folder=folder)
    assert run.returncode == status, run
    assert ("1 defect (" in run.stdout) == told
    assert not notes(run.stdout)


def test_no_size_shrinks_beside_a_trusted_index(recorded: Path, opgate: OpGate) -> None:
    planned = opgate("list", "cases", "--op", "write_", "--check", "error.raises", folder=recorded).stdout
    assert "bad:x.size0+1/" in planned
    assert "bad:slots.size0-1/" in planned
    assert "bad:x.size0-1/" not in planned
