"""`opgate sim`: stores that other blocks see late."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from orders_program import OrdersProgram

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


def test_another_exit_status_with_late_stores_is_told(orders: OrdersProgram) -> None:
    run = orders("counts-alone")
    assert run.returncode == 0, "it is no finding"
    assert re.search(
        r"ended with exit status 3 with --seed \d+ if stores became visible to other blocks late, and with 0 "
        r"with --seed 1,",
        run.stderr,
    ), run
    assert orders.repeat(run, with_option="--late-stores").returncode == 3


@pytest.mark.parametrize("name", ["counts-alone-behind-fence", "adds-alone-behind-fence"])
def test_a_right_program_ends_with_0(orders: OrdersProgram, name: str) -> None:
    run = orders(name)
    assert run.returncode == 0, run
    assert "opgate sim: nothing found with the seeds 1 to " in run.stderr
    assert "the program ended with" not in run.stderr
    for seed in range(1, 11):
        assert orders(name, "--seed", str(seed), "--late-stores", str(seed), "--seconds", "0").returncode == 0


def test_a_race_that_late_stores_show_keeps_them_in_its_schedule(orders: OrdersProgram) -> None:
    for seed in range(1, 11):
        assert (
            orders("adds-alone", "--seed", str(seed), "--late-stores", "0", "--seconds", "0").returncode == 0
        )
    run = orders("adds-alone", "--seconds", "60")
    assert run.returncode == 1, run
    assert re.search(r"opgate sim: 1 finding with --seed \d+ --late-stores \d+$", run.stderr, re.M), run
    assert re.search(r"^   order    .*; stores become visible late$", run.stderr, re.M), run
    again = orders.repeat(run, with_option="--late-stores")
    assert again.returncode == 1, again
    assert " 1 race: " in again.stderr


def test_the_option_holds_for_all_runs(orders: OrdersProgram) -> None:
    statuses = [
        orders("counts-alone", "--late-stores", str(seed), "--seconds", "0").returncode
        for seed in range(1, 11)
    ]
    assert set(statuses) == {0, 3}
    late = str(statuses.index(3) + 1)
    assert orders("counts-alone", "--schedule", "launch 2: blocks 0", "--late-stores", late).returncode == 3
    assert orders("counts-alone", "--late-stores", "-1").returncode == 2


def memory_of(build: Path, name: str, seed: int, late: int) -> str:
    """What a program of fixtures/race_programs leaves, without tools."""
    libraries = build / "lib" / "simulator"
    environment = os.environ | {
        "LD_PRELOAD": str(libraries / "libcudart.so.13"),
        "LD_LIBRARY_PATH": str(libraries),
        "OPGATE_SIM_SHUFFLE": str(seed),
        "OPGATE_SIM_LATE_STORES": str(late),
    }
    program = build / "bin" / "opgate_race_programs"
    run = subprocess.run([program, name, "--words"], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run
    return run.stdout


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("barriers/grid/right", "barriers/grid/no-fence-before"),
        ("barriers/last-block/right", "barriers/last-block/no-release"),
        ("locks/grid/right", "locks/grid/no-release"),
        ("message/signals/grid/fence_relaxed", "message/signals/grid/relaxed_store"),
        ("message/scopes/grid/fences/gpu-gpu", "message/scopes/grid/fences/cta-gpu"),
        ("store-buffering/grid/relaxed-fence-gpu", "store-buffering/grid/volatile-gpu"),
    ],
)
def test_a_missing_fence_changes_what_is_left_in_memory(build: Path, right: str, wrong: str) -> None:
    at_once = {memory_of(build, right, seed, 0) for seed in range(1, 11)}
    assert {memory_of(build, right, seed, seed) for seed in range(1, 51)} <= at_once
    assert not {memory_of(build, wrong, seed, seed) for seed in range(1, 25)} <= at_once
    assert {memory_of(build, wrong, seed, 0) for seed in range(1, 25)} <= at_once, "only late stores show it"
