"""No right order of operations is accused, whatever cancels, and a wrong coefficient or term is found."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import opgate
import pytest
import torch

Expression = Callable[..., torch.Tensor]

NAMES = ("x", "y", "z", "alpha", "w0", "w1")
EXPRESSIONS = 200
PLANTED = 12


class Sum:
    """A sum of terms, each a coefficient and factors: names of arguments, functions of sums, sums."""

    def __init__(self, draw: random.Random, depth: int) -> None:
        self.terms = [(coefficient(draw), factors(draw, depth)) for _ in range(draw.randint(2, 4))]

    def plain(self, given: dict) -> torch.Tensor:
        """From left to right."""
        result = given["x"] * 0
        for by, each in self.terms:
            term = given["x"] * 0 + by
            for factor in each:
                term = term * value(factor, given, Sum.plain)
            result = result + term
        return result

    def another(self, given: dict) -> torch.Tensor:
        """From right to left, with sums multiplied out, and product and sum rounded once, as by an FMA."""
        result = given["x"] * 0
        for by, each in reversed(self.terms):
            *others, last = each
            for inner, inner_factors in last.terms if isinstance(last, Sum) else [(1.0, [last])]:
                term = given["x"] * 0 + inner
                for factor in [*inner_factors, *others]:
                    term = value(factor, given, Sum.another) * term
                result = (term.double() * by + result.double()).to(result.dtype)
        return result


def value(factor: object, given: dict, order: Callable) -> torch.Tensor | float:
    """The value of a factor."""
    if isinstance(factor, Sum):
        return order(factor, given)
    if isinstance(factor, tuple):
        function, inside = factor
        return function(order(inside, given))
    return given[factor]


def coefficient(draw: random.Random) -> float:
    """Few different ones, so that terms cancel often."""
    return draw.choice([1.0, -1.0, 1.0, -1.0, 0.5, -0.1, 3.0, -99.5, 100.0])


def factors(draw: random.Random, depth: int) -> list:
    """One or two names, and perhaps a function, or a sum as the last factor."""
    found: list = [draw.choice(NAMES) for _ in range(draw.randint(1, 2))]
    if depth and draw.random() < 0.4:
        inside = Sum(draw, depth - 1)
        found.append(draw.choice([inside, (torch.tanh, inside), (torch.sin, inside), (root, inside)]))
    return found


def root(tensor: torch.Tensor) -> torch.Tensor:
    """A function that has a steep place."""
    return torch.sqrt(tensor * tensor + 1e-3)


def arguments(seed: int) -> tuple:
    """Tensors of which some elements are nearly equal or opposite, so that sums of them cancel."""
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(4, 8, generator=draw) * 2 - 1
    y = torch.where(x > 0.3, x * 1.0001, torch.rand(4, 8, generator=draw))
    z = torch.where(x < 0, -x, torch.rand(4, 8, generator=draw))
    return x, y, z, 0.1, [1.001, -0.999]


def function_of(order: Callable, drawn: Sum) -> Expression:
    """The expression as a function that opgate.check takes."""

    def expression(
        x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, alpha: float, weights: list[float]
    ) -> torch.Tensor:
        return order(drawn, {"x": x, "y": y, "z": z, "alpha": alpha, "w0": weights[0], "w1": weights[1]})

    return expression


def difference(seed: int, another: Expression, plain: Expression) -> str:
    """The finding for the expression in another order, or nothing."""
    try:
        opgate.check(another, arguments(seed), reference=plain, checks=["value.reference"])
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.long
def test_no_right_order_is_accused() -> None:
    """Each of the expressions, computed in another order in float32."""
    accused = {}
    for seed in range(EXPRESSIONS):
        drawn = Sum(random.Random(seed), 2)
        if text := difference(seed, function_of(Sum.another, drawn), function_of(Sum.plain, drawn)):
            accused[seed] = text
    assert accused == {}


def largest_term(drawn: Sum, seed: int) -> int:
    """The position of the term that the result depends on most; 0.1 % of another one may be a rounding."""
    x, y, z, alpha, weights = arguments(seed)
    given = {"x": x, "y": y, "z": z, "alpha": alpha, "w0": weights[0], "w1": weights[1]}
    alone = [copy.copy(drawn) for _ in drawn.terms]
    for position, each in enumerate(alone):
        each.terms = [drawn.terms[position]]
    return max(range(len(alone)), key=lambda i: float(alone[i].plain(given).abs().max()))


@pytest.mark.parametrize("mistake", ["coefficient", "term"])
def test_a_wrong_expression_is_found(mistake: str) -> None:
    """The same expressions, whose largest term is 0.1 % too large, or is missing."""
    missed = []
    for seed in range(PLANTED):
        drawn, wrong = Sum(random.Random(seed), 2), Sum(random.Random(seed), 2)
        at = largest_term(drawn, seed)
        by, first = wrong.terms[at]
        wrong.terms[at : at + 1] = [] if mistake == "term" else [(by * 1.001, first)]
        if not difference(seed, function_of(Sum.another, wrong), function_of(Sum.plain, drawn)):
            missed.append(seed)
    assert missed == []


def adam_step(
    p: torch.Tensor, g: torch.Tensor, v: torch.Tensor, lr: float, betas: tuple[float, float]
) -> torch.Tensor:
    """A step of an optimizer."""
    v = betas[1] * v + (1 - betas[1]) * g * g
    return p - lr * (g / (v.sqrt() + 1e-8))


def fused_step(
    p: torch.Tensor, g: torch.Tensor, v: torch.Tensor, lr: float, betas: tuple[float, float]
) -> torch.Tensor:
    """The same with the quotient computed first from the other side."""
    v = torch.addcmul(v * betas[1], g, g, value=1 - betas[1])
    return torch.addcdiv(p, g, v.sqrt().add(1e-8), value=-lr)


def large_step(
    p: torch.Tensor, g: torch.Tensor, v: torch.Tensor, lr: float, betas: tuple[float, float]
) -> torch.Tensor:
    """The second moment lacks its factor."""
    v = betas[1] * v + g * g
    return p - lr * (g / (v.sqrt() + 1e-8))


def test_a_step_that_cancels() -> None:
    """The parameter is nearly what the step takes from it."""
    draw = torch.Generator().manual_seed(1)
    g, v = torch.randn(16, 16, generator=draw), torch.rand(16, 16, generator=draw)
    step = 0.01 * g / (0.99 * v + 0.01 * g * g).sqrt()
    p = step * (1 + 3e-6 * torch.randn(16, 16, generator=draw))
    args = (p, g, v, 0.01, (0.9, 0.99))
    opgate.check(fused_step, args, reference=adam_step, checks=["value.reference", "value.layout"])
    with pytest.raises(AssertionError, match="value.reference"):
        opgate.check(large_step, args, reference=adam_step, checks=["value.reference", "value.layout"])
