"""`opgate sim`: a finding that one order of blocks and warps shows has the shortest schedule for it."""

from __future__ import annotations

import re

import pytest
from harness import Completed, assert_refused
from orders_program import OrdersProgram

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


def order_of(run: Completed) -> str:
    order = re.search(r"^   order    (.*)$", run.stderr, re.M)
    assert order, run
    return order[1]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("first-block-1", "in launch 2 of adds_if_first, block 1 begins first, then the others by index"),
        ("first-block-5", "in launch 2 of adds_if_first, block 5 begins first, then the others by index"),
        (
            "first-warp",
            "in launch 2 of adds_if_warp_is_first in block 0, warp 1 goes first, then the others by index",
        ),
        (
            "first-two-blocks",
            "in launch 2 of adds_behind, block 2 begins first, then block 1, then the others by index",
        ),
    ],
)
def test_a_finding_has_the_shortest_schedule(orders: OrdersProgram, name: str, order: str) -> None:
    assert orders(name, "--seed", "0", "--seconds", "0").returncode == 0, "by index there is no race"
    first = next(
        seed for seed in range(1, 100) if orders(name, "--seed", str(seed), "--seconds", "0").returncode == 0
    )
    run = orders(name, "--seed", str(first), "--seconds", "60")
    assert run.returncode == 1, run
    assert order_of(run) == order
    again = orders.repeat(run)
    assert again.returncode == 1, again
    assert " 1 race: " in again.stderr
    assert "the program runs again" not in again.stderr


def test_a_finding_without_a_schedule_goes_by_index(orders: OrdersProgram) -> None:
    first = next(
        seed
        for seed in range(1, 100)
        if orders("first-block-0", "--seed", str(seed), "--seconds", "0").returncode == 0
    )
    run = orders("first-block-0", "--seed", str(first), "--seconds", "60")
    assert order_of(run) == "blocks and warps go by index"
    assert orders.repeat(run).returncode == 1


def test_all_orders_of_four_blocks_are_tried(orders: OrdersProgram) -> None:
    for digits in (1234, 4321, 2413, 3142, 1423):
        name = f"order-of-four-{digits}"
        run = orders(name, "--seconds", "60")
        assert run.returncode == 1, run
        seed = re.search(r"1 finding with --seed (\d+)$", run.stderr, re.M)
        assert seed is None or int(seed[1]) <= 24
    assert orders("order-of-four-0", "--seconds", "0").returncode == 0


def test_another_exit_status_is_told_if_it_comes_back(orders: OrdersProgram) -> None:
    def ends_with(seed: str) -> int:
        return orders("last-block", "--seed", seed, "--seconds", "0").returncode

    right, wrong = sorted(("1", "2"), key=ends_with)
    assert (ends_with(right), ends_with(wrong)) == (0, 3)
    run = orders("last-block", "--seed", right)
    assert run.returncode == 0, "it is no finding"
    ends = re.search(r"ended with exit status 3 with --seed (\d+), and with 0 with --seed (\d+),", run.stderr)
    assert ends, run
    assert (ends_with(ends[1]), ends[2]) == (3, right)


def test_a_program_that_cannot_run_twice_is_not_told_of(orders: OrdersProgram) -> None:
    command = [
        "sim",
        "--tool",
        "race",
        "--",
        "sh",
        "-c",
        'mkdir once && "$0" order-of-four-0',
        orders.program,
    ]
    run = orders.opgate(*command, folder=orders.folder)
    assert run.returncode == 0, run
    assert "nothing found with the seeds 1 to " in run.stderr
    assert "the program ended with" not in run.stderr


def test_a_schedule_is_followed_alone(orders: OrdersProgram) -> None:
    schedule = ("--schedule", "launch 2 of adds_if_first: blocks 1")
    assert orders("first-block-1", *schedule).returncode == 1
    assert orders("first-block-5", *schedule).returncode == 0
    launch_of_any_kernel = orders("first-block-1", "--schedule", "launch 2: blocks 1")
    assert launch_of_any_kernel.returncode == 1


def test_a_schedule_that_does_not_fit_is_refused(orders: OrdersProgram) -> None:
    def refused(schedule: str, *options: str) -> str:
        run = orders("first-block-1", "--schedule", schedule, *options)
        assert run.returncode == 2, run
        return run.stderr

    assert "launch 2 of adds_if_first: blocks 8: it has 8,1,1 blocks, and no block 8" in refused(
        "launch 2 of adds_if_first: blocks 8"
    )
    assert "no warp 1" in refused("launch 2: warps 1 of block 0")
    for absent in ("launch 3: blocks 1", "launch 2 of twice: blocks 1"):
        assert f"no launch of the program is that of the schedule `{absent}`" in refused(absent)
    assert_refused(
        orders("first-block-1", "--schedule", "blocks 1"), "--schedule 'blocks 1'", "write `launch 2 of"
    )
    assert orders("first-block-1", "--schedule", "launch 2: blocks 1", "--seed", "2").returncode == 2
    without_tools = orders.opgate(
        "sim",
        "--tool",
        "memory",
        "--schedule",
        "launch 1: warps 1 of block 0",
        "--",
        orders.program,
        "first-warp",
    )
    assert_refused(without_tools, "warps have an order only if")
