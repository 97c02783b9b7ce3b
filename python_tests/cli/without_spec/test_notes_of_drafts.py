"""What a draft notes, because it may be intended: each operator beside one without a note."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, Results, read_results

RANDOM = """
import opgate
import torch


def drawn(x, generator):
    return (x * torch.rand(x.shape, dtype=x.dtype, generator=generator)).contiguous()


# A generator of its own begins with the seed of the default one, which stays as it is.
def thin_from_seed(x: torch.Tensor) -> torch.Tensor:
    return drawn(x, torch.Generator().manual_seed(torch.initial_seed()))


def thin(x: torch.Tensor) -> torch.Tensor:
    return drawn(x, None)


# The numbers of a generator of its own are the same for each seed.
def thin_always_alike(x: torch.Tensor) -> torch.Tensor:
    return drawn(x, torch.Generator().manual_seed(3))


TAGS = {thin_from_seed: (), thin: (torch.Tag.nondeterministic_seeded,), thin_always_alike: ()}
for function, tags in TAGS.items():
    operator = torch.library.custom_op(
        f"noted::{function.__name__}", function, mutates_args=(), tags=tags
    )
    operator.register_fake(lambda x: x.new_empty(x.shape))

    @opgate.spec(f"noted::{function.__name__}")
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").draft().sample(opgate.uniform(3, 4))
"""

WAITING = """
import torch

torch.ops.load_library("libwaits.so")
for size in (3, 4):
    x = torch.ones(size, size, device="cuda")
    torch.ops.waits.by_largest(x)
    torch.ops.waits.by_largest_on_device(x)
    torch.ops.waits.jittered(x)
"""


# Unbacked sizes have no value that Python could ask for. Backed ones do.
SYMBOLIC = """
import opgate
import torch


def matching(name, demand, *promises):
    @torch.library.custom_op(f"noted::{name}", mutates_args=())
    def made(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        demand(x, y)
        return x + y

    @made.register_fake
    def _(x, y):
        demand(x, y)
        return torch.empty_like(x)

    @opgate.spec(f"noted::{name}")
    def spec(spec):
        spec.dtypes(torch.float32, device="cpu").draft().promises(*promises)
        spec.sample(opgate.uniform(6), opgate.uniform(6))


def by_value(x, y):
    if x.shape[0] != y.shape[0]:
        raise ValueError("x and y must have the same size")


def stated(x, y):
    torch._check(x.shape[0] == y.shape[0])


matching("by_value", by_value)
matching("both_at_once", lambda x, y: torch._check(x.shape[0] == y.shape[0] and y.shape[0] > 0))
matching("stated", stated, "unbacked_sizes")
matching("promised_by_value", by_value, "unbacked_sizes")
"""

REFUSING = """
import opgate
import torch


def by_assert(x: torch.Tensor) -> torch.Tensor:
    assert x.is_contiguous()
    return 2 * x


def by_type(x: torch.Tensor) -> torch.Tensor:
    if x.data_ptr() % 16 != 0 or not x.is_contiguous():
        raise NotImplementedError
    return 2 * x


def by_view(x: torch.Tensor) -> torch.Tensor:
    return 2 * x.view(-1).view(x.shape)


def takes_all(x: torch.Tensor) -> torch.Tensor:
    return 2 * x.contiguous()


for function in (by_assert, by_type, by_view, takes_all):
    torch.library.custom_op(f"noted::{function.__name__}", function, mutates_args=())

    @opgate.spec(f"noted::{function.__name__}")
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").draft().sample(opgate.uniform(3, 4))
"""


@pytest.fixture
def judged(opgate: OpGate, new_project: Callable[..., Path]) -> Callable[..., tuple[Results, str]]:
    """The results of a module with operators, and what the run printed: notes break nothing."""

    def run(module: str, *words: str, status: int = 0) -> tuple[Results, str]:
        folder = new_project(libraries=[], specs=[], python=["noted_operators"], python_path=["."])
        (folder / "noted_operators.py").write_text(module)
        ran = opgate("run", *words, folder=folder)
        assert ran.returncode == status, ran
        return read_results(folder / ".opgate"), ran.stdout

    return run


def noted(results: Results) -> set[str]:
    return {
        line["case"].partition("/")[0]
        for line in results.cases.values()
        if line["verdict"] == "pass" and ("happened" in line or line.get("reason"))
    }


def test_a_draw_that_does_not_advance_the_generator(judged: Callable[..., tuple[Results, str]]) -> None:
    results, told = judged(RANDOM, "--check", "effect.state")
    assert noted(results) == {"thin_from_seed"}
    assert "two calls in a row draw the same numbers" in told
    assert {line["verdict"] for line in results.cases.values()} == {"pass"}


def test_sizes_without_a_value_are_asked_of_a_promise_alone(
    judged: Callable[..., tuple[Results, str]],
) -> None:
    results, told = judged(SYMBOLIC, "--check", "fake.symbolic", status=1)
    assert noted(results) == {"by_value", "both_at_once"}
    assert "a torch._check(...) for each condition on sizes" in told
    broken = {line["case"].partition("/")[0] for line in results.cases.values() if line["verdict"] == "fail"}
    assert broken == {"promised_by_value"}


def test_a_layout_that_is_refused_without_a_message(judged: Callable[..., tuple[Results, str]]) -> None:
    results, told = judged(REFUSING, "--check", "value.layout", "value.alignment", status=1)
    assert noted(results) == {"by_assert", "by_type"}
    assert "the operator refuses layouts, by AssertionError without a message" in told
    broken = {line["case"].partition("/")[0] for line in results.cases.values() if line["verdict"] == "fail"}
    assert broken == {"by_view"}, "PyTorch's own exception for a view is no refusal"


@pytest.mark.long
def test_a_call_that_waits_for_the_device(
    opgate: OpGate, build: Path, tmp_path: Path, has_simulator: bool
) -> None:
    if not has_simulator:
        pytest.skip("no simulated device here")
    shutil.copy(build / "lib" / "libopgate_waits.so", tmp_path / "libwaits.so")
    (tmp_path / "program.py").write_text(WAITING)
    recorded = opgate("record", "--sim", "--", sys.executable, "program.py", folder=tmp_path)
    assert recorded.returncode == 0, recorded
    ran = opgate("run", "--device", "sim", "--check", "run.graph", folder=tmp_path)
    assert ran.returncode == 0, ran
    results = read_results(tmp_path / ".opgate")
    assert noted(results) == {"by_largest"}
    assert (
        "the call cannot be captured: it calls cudaStreamSynchronize, which no capture allows" in ran.stdout
    )
    assert "a spec that does not promise `capturable` asks nothing of it" in ran.stdout
    # The last one would draw in the order of the stream on a GPU, and draws at once on the simulated device.
    verdicts = sorted((case.partition("/")[0], line["verdict"]) for case, line in results.cases.items())
    passed = [("by_largest", "pass"), ("by_largest_on_device", "pass")]
    assert verdicts == [*passed, ("jittered", "owed")], "one sample each"
