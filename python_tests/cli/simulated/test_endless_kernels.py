"""A kernel that does not end costs its test, and no other; one that may wait for another stream is owed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness import OpGate

pytest.importorskip("triton")
pytestmark = [pytest.mark.long, pytest.mark.usefixtures("needs_simulated_runtime")]

TESTS = """
import torch
import triton
import triton.language as tl

@triton.jit
def add_one_behind_lock(lock, x, UNLOCKS: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(x, tl.load(x) + 1)
    if UNLOCKS:
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0)

@triton.jit
def wait_for_all(count, n):
    tl.atomic_add(count, 1)
    while tl.atomic_add(count, 0) < n:
        pass

@triton.jit
def wait_for(flag):
    while tl.atomic_add(flag, 0) == 0:
        pass

@triton.jit
def set_flag(flag):
    tl.atomic_xchg(flag, 1)

def number():
    return torch.zeros(1, dtype=torch.int32, device="cuda")

def test_forgets_to_unlock():
    x = number()
    add_one_behind_lock[(4,)](number(), x, UNLOCKS=False)
    assert x.item() == 4

def test_unlocks():
    x = number()
    add_one_behind_lock[(40,)](number(), x, UNLOCKS=True)
    assert x.item() == 40

def test_blocks_wait_for_each_other():
    count = number()
    wait_for_all[(30,)](count, 30)
    assert count.item() == 30

def test_waits_for_another_stream():
    flag = number()
    torch.cuda.synchronize()
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(second):
        set_flag[(1,)](flag)
    with torch.cuda.stream(first):
        wait_for[(1,)](flag)
    torch.cuda.synchronize()
    assert flag.item() == 1
"""


@pytest.mark.parametrize("tools", ["memory", "memory,race,init"])
def test_each_test_has_its_end(opgate: OpGate, tmp_path: Path, tools: str) -> None:
    (tmp_path / "test_locks.py").write_text(TESTS)
    pytest_here = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "test_locks.py")
    run = opgate("sim", "--tool", tools, "--seconds", "0", "--", *pytest_here, folder=tmp_path)
    assert "1 failed, 2 passed, 1 skipped" in run.stdout, run
    assert "owed: not simulated: a kernel that waits for the work of another stream" in run.stdout
    (finding,) = [line for line in run.stdout.splitlines() if line.startswith("memory: ")]
    assert finding.startswith("memory: the kernel does not end: its threads repeat the same instructions")
    assert "   kernel   add_one_behind_lock\n" in run.stdout
