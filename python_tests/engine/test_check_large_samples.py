"""opgate.check of large tensors: most checks see smaller ones like them, and defects are found."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import opgate
import pytest
import torch
from opgate import _engine
from opgate.assertion.smaller_samples import LARGE, smaller

SIDE = 1000
MOST_CALLS_AT_GIVEN_SIZE = 80
"""Most are those of `run.sequence`, which calls all samples; each layout of each check would be hundreds."""


def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Right."""
    return x * 2 + y


class Counted:
    """A function that counts the elements of the tensors that it is called with."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        self.function, self.elements = function, 0

    def __call__(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.elements += x.numel()
        return self.function(x, y)


def reads_densely(x: torch.Tensor) -> torch.Tensor:
    """Ignores strides."""
    return torch.as_strided(x, x.shape, torch.empty(x.shape).stride(), 0).mul(2)


def forgets_the_end(x: torch.Tensor) -> torch.Tensor:
    """Is wrong from 512 rows on."""
    return torch.cat([x[:512] * 2, x[512:]])


def picked(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Takes indices, which must stay inside x."""
    return x.index_select(0, rows)


def segments(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Takes offsets, of which the last one is the number of rows."""
    assert offsets[-1] == len(x), f"the last offset must be {len(x)}"
    ends = x.double().cumsum(0)
    ends = torch.cat([torch.zeros_like(ends[:1]), ends])[offsets]
    return (ends[1:] - ends[:-1]).to(x.dtype)


def normalised(x: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Takes a size as a number, too."""
    return torch.nn.functional.layer_norm(x, shape)


def test_few_calls_have_the_given_size() -> None:
    counted = Counted(scaled)
    given = [torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)]
    opgate.check(counted, given)
    assert counted.elements < MOST_CALLS_AT_GIVEN_SIZE * SIDE * SIDE


def test_what_is_asked_about_a_call_does_not_grow_with_its_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[int] = []

    def describe(call_id: str) -> dict[str, Any]:
        described = engine_describes(call_id)
        answers.append(len(json.dumps(described)))
        return described

    engine_describes = _engine.describe
    monkeypatch.setattr(_engine, "describe", describe)
    opgate.check(scaled, (torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)), checks=["value.reference"])
    assert answers
    assert max(answers) < SIDE


def test_defects_are_found_in_the_smaller_sample_and_in_the_given_one() -> None:
    with pytest.raises(AssertionError, match=r"value\.layout[^\n]* sample 0, smaller · x="):
        opgate.check(reads_densely, (torch.rand(SIDE, SIDE),), checks=["value.layout"])
    with pytest.raises(AssertionError, match=r"value\.reference[^\n]* sample 0 · contiguous"):
        opgate.check(
            forgets_the_end,
            (torch.rand(SIDE, SIDE),),
            reference=lambda x: x * 2,
            checks=["value.reference"],
        )


@pytest.mark.parametrize(
    ("function", "arguments", "shapes"),
    [
        pytest.param(scaled, (torch.rand(1000, 64), torch.rand(1000, 64)), [(40, 64), (40, 64)], id="tied"),
        pytest.param(
            picked, (torch.rand(1000, 90), torch.tensor([0, 999, 7])), [(72, 58), (3,)], id="indices"
        ),
        pytest.param(
            segments, (torch.rand(1000, 90), torch.tensor([0, 9, 700, 1000])), [(72, 58), (4,)], id="offsets"
        ),
        pytest.param(normalised, (torch.rand(200, 1000), [1000]), [(40, 72)], id="a size as a number"),
        pytest.param(torch.nn.Linear(512, 512), (torch.rand(300, 512),), [(28, 512)], id="weights"),
    ],
)
def test_right_functions_take_the_smaller_sample(
    function: Callable[..., torch.Tensor], arguments: Sequence, shapes: list[tuple[int, ...]]
) -> None:
    """The shapes are those of the first smaller sample that the function takes."""
    for sample in smaller(arguments):
        try:
            function(*sample)
        except (RuntimeError, AssertionError):
            continue
        assert [tuple(part.shape) for part in sample if isinstance(part, torch.Tensor)] == shapes
        break
    else:
        pytest.fail("no smaller sample is taken")
    opgate.check(function, list(arguments), checks=["value.layout", "value.reference", "memory.bounds"])


def test_a_small_sample_stays_as_it_is() -> None:
    assert list(smaller([torch.rand(LARGE)])) == []
    assert list(smaller([torch.rand(LARGE + 1)])) != []
