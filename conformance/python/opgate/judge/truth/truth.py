"""The process of the reference: it draws samples and computes what is right. It never loads a candidate."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from opgate.judge.sandbox.wire import ChannelClosed, receive, send
from opgate.judge.subject.called_operators import operators_of
from opgate.judge.subject.source_file import SourceFile
from opgate.judge.tensors.arguments import NotJudged, mapped, tensors_of
from opgate.judge.tensors.comparison import is_constant
from opgate.judge.tensors.message import saved
from opgate.judge.truth.accuracy_bound import exact_and_bound
from opgate.judge.truth.reference import Reference, Returned, same
from opgate.judge.truth.samples import ROWS_OF_ONE_VALUE, Sample, samples
from opgate.judge.truth.structure import structures
from opgate.judge.truth.trivial_answers import OTHER_DRAW, is_right, trivial_answers
from opgate.request import UserError


@dataclass
class RightAnswer:
    """A sample, and what is right for it."""

    sample: Sample
    returned: Returned
    exact: list[torch.Tensor]
    bounds: list[torch.Tensor]
    without_double: str = ""
    trivial: list[str] = field(default_factory=list)  # answers without a kernel that would pass here


@dataclass
class Examination:
    """All that is known about one run: how the module is made, the samples, and what was left out."""

    init: list[Any]
    seed: int
    state: dict[str, torch.Tensor]
    answers: list[RightAnswer] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    altered_state: dict[str, torch.Tensor] = field(default_factory=dict)
    altered: list[RightAnswer] = field(default_factory=list)  # with parameters that were ones or zeros
    changed_state: dict[str, torch.Tensor] = field(default_factory=dict)
    changed: list[RightAnswer] = field(default_factory=list)  # with other values of the other parameters
    unclear: str = ""
    structures: list[str] = field(default_factory=list)
    altered_names: list[str] = field(default_factory=list)


def serve(source: SourceFile, commands: int, answers: int) -> None:
    """Answers each message with an examination from new secrets, until the pipe is closed."""
    reference: Reference | None = None
    while True:
        try:
            head, _ = receive(commands)
        except ChannelClosed:
            return
        try:
            reference = reference or Reference(source)
            secret = random.Random(bytes.fromhex(head["secret"]))
            draws = [drawn(reference, secret) for _ in range(head.get("draws", 0))]
            send(answers, {}, [saved(draws or examine(reference, secret))])
        except (UserError, NotJudged) as error:
            send(answers, {"error": str(error)})
        except Exception as error:
            send(answers, {"error": f"the reference raises {type(error).__name__}: {error}"})


def examine(reference: Reference, secret: random.Random) -> Examination:
    """Makes the module, draws the samples and computes what is right."""
    seed = secret.getrandbits(48)
    init = reference.start(seed)
    examination = Examination(init, seed, {name: value.clone() for name, value in reference.state().items()})
    examination.left_out += reference.left_out
    for sample in samples(reference.inputs, secret, reference.spec_samples, reference.drawn):
        try:
            returned = reference.call(sample.arguments)
        except Exception as error:
            if sample.kind in ("public", "secret", "spec"):
                raise
            first = (str(error).splitlines() or [type(error).__name__])[0]
            examination.left_out.append(f"{sample.label}: the reference refuses it ({first[:120]})")
            continue
        if sample.kind == "spec" and not is_finite(returned):
            sample.kind = "edge"
        if sample.kind not in ("public", "secret", "edge") and not is_finite(returned):
            examination.left_out.append(f"{sample.label}: the reference's results are not finite")
            continue
        examination.answers.append(with_trivial(reference, right_answer(reference, sample, returned)))
    drawn_ones = [each for each in examination.answers if each.sample.kind in ("public", "secret")]
    examination.structures = structures([each.sample.arguments for each in drawn_ones])
    for one, other in itertools.pairwise([drawn_ones[-1], *drawn_ones]):
        if is_right_for_another(other, one):
            one.trivial.append(OTHER_DRAW)
    first_secret = next(answer for answer in examination.answers if answer.sample.kind == "secret")
    again = reference.call(first_secret.sample.arguments)
    pairs = zip(again.results, first_secret.returned.results, strict=True)
    if not all(same(one, other) for one, other in pairs):
        examination.unclear = "the reference itself returns other results for the same arguments"
    copies = mapped(first_secret.sample.arguments, torch.Tensor.clone)
    examination.operators = operators_of(lambda: reference.called(*copies))
    alter_parameters(reference, examination, secret)
    change_parameters(reference, examination, secret)
    return examination


def drawn(reference: Reference, secret: random.Random) -> RightAnswer:
    """A draw of get_inputs() and what is right for it; without the trivial answers, which take longer."""
    sample = Sample(
        "secret", f"{reference.drawn} with a secret seed", reference.inputs(secret.getrandbits(48))
    )
    return right_answer(reference, sample, reference.call(sample.arguments))


def right_answer(reference: Reference, sample: Sample, returned: Returned) -> RightAnswer:
    """What is right for a sample."""
    biased = sample.label == ROWS_OF_ONE_VALUE
    exact, bounds, why = exact_and_bound(reference, sample.arguments, returned.results, biased=biased)
    return RightAnswer(sample, returned, exact, bounds, why)


def with_trivial(reference: Reference, answer: RightAnswer) -> RightAnswer:
    """The answer, with the trivial answers that no comparison could tell from the right one."""
    returned, exact = answer.returned.results, answer.exact
    tried = trivial_answers(reference, answer.sample.arguments, returned, exact)
    answer.trivial = [name for name, each in tried if is_right(each, returned, exact, answer.bounds)]
    return answer


def is_right_for_another(one: RightAnswer, other: RightAnswer) -> bool:
    """Whether the results for one draw would pass for another one, which has other values."""
    given, of_other = tensors_of(one.sample.arguments), tensors_of(other.sample.arguments)
    same_sizes = sizes(one.exact) == sizes(other.exact) and sizes(given) == sizes(of_other)
    if not same_sizes or all(same(mine, theirs) for mine, theirs in zip(given, of_other, strict=True)):
        return False
    return is_right(one.returned.results, other.returned.results, other.exact, other.bounds)


def sizes(tensors: Sequence[torch.Tensor]) -> list[torch.Size]:
    """The sizes of each tensor."""
    return [tensor.shape for tensor in tensors]


def alter_parameters(reference: Reference, examination: Examination, secret: random.Random) -> None:
    """Draws other values for parameters of one value, and computes what is right with these."""
    torch.manual_seed(secret.getrandbits(48))
    examination.altered_state = {name: varied(value) for name, value in examination.state.items()}
    examination.altered_names = [
        name
        for name, value in examination.altered_state.items()
        if not torch.equal(value, examination.state[name])
    ]
    if not examination.altered_names:
        return
    reference.called.load_state_dict(examination.altered_state)
    for _ in range(2):
        label = f"other values of {', '.join(examination.altered_names)}"
        sample = Sample("altered", label, reference.inputs(secret.getrandbits(48)))
        returned = reference.call(sample.arguments)
        if is_finite(returned):
            examination.altered.append(with_trivial(reference, right_answer(reference, sample, returned)))
    reference.called.load_state_dict(examination.state)


def change_parameters(reference: Reference, examination: Examination, secret: random.Random) -> None:
    """Changes the parameters of several values, as a step of training does, and computes what is right then.

    There is no answer if the reference has no such parameters, or does not follow them itself.
    """
    if not examination.state:
        return
    torch.manual_seed(secret.getrandbits(48))
    examination.changed_state = {name: moved(value) for name, value in examination.state.items()}
    sample = Sample("changed", "changed parameters", reference.inputs(secret.getrandbits(48)))
    before = reference.call(sample.arguments)
    reference.called.load_state_dict(examination.changed_state)
    returned = reference.call(sample.arguments)
    answer = right_answer(reference, sample, returned)
    if is_finite(returned) and not is_right(before.results, returned.results, answer.exact, answer.bounds):
        examination.changed.append(answer)
    reference.called.load_state_dict(examination.state)


def moved(value: torch.Tensor) -> torch.Tensor:
    """Other values of the same signs; a tensor of one value stays, because altered_state changes it."""
    if not value.is_floating_point() or is_constant(value):
        return value
    return value * (0.5 + torch.rand(value.shape, dtype=value.dtype))


def varied(value: torch.Tensor) -> torch.Tensor:
    """Other values instead of one value: of its sign, or near zero."""
    if value.numel() < 2 or not value.is_floating_point() or not is_constant(value):
        return value
    drawn = torch.rand(value.shape, dtype=value.dtype)
    return value * (0.5 + drawn) if bool(value.any()) else (drawn - 0.5) / 2


def is_finite(returned: Returned) -> bool:
    """Whether no result has NaN or an infinity."""
    return all(bool(result.isfinite().all()) for result in returned.results)
