"""The order in which a judge makes its calls."""

from __future__ import annotations

import torch
from opgate.judge.truth.reference import Returned
from opgate.judge.truth.samples import Sample
from opgate.judge.truth.truth import Examination, RightAnswer
from opgate.judge.verdict.finding import Verdict
from opgate.judge.verdict.judge import Judge


def test_a_sample_whose_result_has_one_value_comes_last() -> None:
    """If a candidate returned such a result again, it could be a constant as well."""
    varied = torch.arange(6.0)
    answers = [answer_of(varied), answer_of(torch.ones(6)), answer_of(varied + 1)]
    first = set()
    for seed in range(20):
        order = order_of(answers, seed)
        assert order[-1] is answers[1]
        assert {id(each) for each in order} == {id(each) for each in answers}
        first.add(id(order[0]))
    assert len(first) == 2


def answer_of(result: torch.Tensor) -> RightAnswer:
    """What is right for a sample whose result is this tensor."""
    return RightAnswer(Sample("secret", "", []), Returned([result], None, [], [[]]), [result], [result])


def order_of(answers: list[RightAnswer], seed: int) -> list[RightAnswer]:
    """The calls of a judge with this secret; it needs no process of a candidate to choose them."""
    return Judge(Examination([], 0, {}, answers), None, Verdict(""), 1.0, seed=f"{seed:064x}").order()
