"""How fast a correct candidate is, beside the reference and beside torch.compile of the reference.

Each is called in a process of its own, in turns, with arguments that no call has had before. The clock is
read in this process, so that no candidate can set it.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from opgate import _engine
from opgate.judge.sandbox.timed_calls import sample_bytes
from opgate.judge.sandbox.wire import FORGED, Lost
from opgate.judge.speed.timed_process import Elapsed, TimedProcess
from opgate.judge.tensors.arguments import same_structure, tensors_of
from opgate.judge.tensors.comparison import elements_beyond, first_difference
from opgate.judge.truth.truth import RightAnswer

ROUNDS = 15
MOST_CALLS = 48
"""In a round."""
SECONDS_OF_A_ROUND = 0.004
SECONDS = 8.0
"""No further round begins after this time if there are enough for an interval."""
MOST_SECONDS_OF_A_CALL = 5.0
BYTES = 1 << 26
"""For the arguments of a round."""
PLACES = 16

Draw = Callable[[int], list[RightAnswer]]
"""Draws so many new samples, with what is right for them."""


@dataclass
class Times:
    """Seconds per call, one number for each round."""

    wall: list[float] = field(default_factory=list)
    computing: list[float] = field(default_factory=list)


class Measurement:
    """Measures a candidate and its opponents in turns."""

    def __init__(self, sides: dict[str, TimedProcess], draw: Draw, secret: random.Random) -> None:
        self.sides = sides
        self.draw = draw
        self.secret = secret
        self.times = {name: Times() for name in sides}
        self.wrong: list[tuple[RightAnswer, str]] = []  # calls, and what was seen
        self.channels: dict[str, Elapsed] = {}  # the quickest answers to requests for no call
        self.lost: dict[str, str] = {}
        self.calls = 0
        self.why_not = ""

    def run(self) -> None:
        """Fills `times`; those of a side that fails stay empty. Raises Lost if the candidate fails."""
        seconds = self.warm_up()
        if seconds > MOST_SECONDS_OF_A_CALL:
            self.why_not = f"a call takes {seconds:.3g} s, and such calls are not timed"
            return
        begin = time.monotonic()
        for calls in self.calls_of_rounds(seconds):
            self.round(calls)
            done = len(self.times["candidate"].wall)
            if done >= _engine.fewest_values and time.monotonic() - begin > SECONDS:
                break

    def warm_up(self) -> float:
        """Calls each side a few times; returns the seconds that a call of the quickest takes."""
        quickest = float("inf")
        for name in list(self.sides):
            seconds = float("inf")
            for count in (1, 1, 4, 4):
                taken = self.turn(name, self.draw(count))
                if taken is None:
                    break
                seconds = min(seconds, taken.wall / count)
                if seconds > SECONDS_OF_A_ROUND * 16:
                    break
            quickest = min(quickest, seconds)
        return quickest

    def calls_of_rounds(self, seconds: float) -> Iterator[int]:
        """The number of calls of each round, at random, so that no side knows which call is the last one."""
        size = max(1, sum(tensor.nbytes for tensor in tensors_of(self.draw(1)[0].sample.arguments)))
        most = max(1, min(MOST_CALLS, int(SECONDS_OF_A_ROUND / max(seconds, 1e-9)), BYTES // size))
        for _ in range(ROUNDS):
            yield self.secret.randint((most + 1) // 2, most)

    def round(self, calls: int) -> None:
        """Times so many calls of each side, with the same arguments, and in an order that changes."""
        answers = self.draw(calls)
        names = list(self.sides)
        self.secret.shuffle(names)
        for name in names:
            taken = self.turn(name, answers)
            if taken is not None:
                self.times[name].wall.append(taken.wall / calls)
                self.times[name].computing.append(taken.computing / calls)

    def turn(self, name: str, answers: Sequence[RightAnswer]) -> Elapsed | None:
        """What the calls of one side take, without the channel. None for an opponent that is lost."""
        side = self.sides[name]
        places = [self.secret.random() for _ in range(PLACES)]
        try:
            side.lay_out([answer.sample.arguments for answer in answers])
            empty, _ = side.time(0, places)
            taken, reply = side.time(len(answers), places)
            again, _ = side.time(0, places)
            if "raised" in reply:
                raise Lost("raises", str(reply["raised"]))
            if name == "candidate":
                self.compare(side, answers, places, reply)
        except Lost as lost:
            if name == "candidate":
                raise
            self.lost[name] = lost.evidence
            del self.sides[name], self.times[name]
            return None
        channel = self.channels[name] = quickest([self.channels.get(name, empty), empty, again])
        return Elapsed(max(1e-9, taken.wall - channel.wall), max(0.0, taken.computing - channel.computing))

    def compare(
        self,
        side: TimedProcess,
        answers: Sequence[RightAnswer],
        places: Sequence[float],
        reply: dict[str, Any],
    ) -> None:
        """Notes which timed calls were wrong. Raises Lost if a result came later than the answer."""
        most = sum(2 * t.nbytes + 4096 for answer in answers for t in answer.returned.results) + (1 << 24)
        described, returned = side.results(most)
        if len(returned) != len(answers):
            raise Lost(FORGED, f"{len(answers)} calls were asked for, and {len(returned)} returned")
        late = zip(sample_bytes(returned[-1], places), reply.get("seen", []), strict=False)
        if any(then and then != now for now, then in late):
            raise Lost("changes after the return", "its bytes were others after the clock was stopped")
        self.calls += len(answers)
        for answer, got, each in zip(answers, returned, described, strict=True):
            if seen := difference(answer, got, each):
                self.wrong.append((answer, seen))


def difference(answer: RightAnswer, got: Sequence[torch.Tensor], described: dict[str, Any]) -> str:
    """What is wrong with the results of one call, or nothing."""
    if "structure" not in described or not same_structure(described["structure"], answer.returned.structure):
        return str(described.get("unusual") or described.get("subclass") or "other results than before")
    for result, right, exact, bound in zip(
        got, answer.returned.results, answer.exact, answer.bounds, strict=True
    ):
        if result.shape != right.shape or result.dtype != right.dtype:
            return f"{result.dtype} {list(result.shape)} instead of {right.dtype} {list(right.shape)}"
        beyond = elements_beyond(result, exact, bound)
        if bool(beyond.any()):
            return first_difference(result, exact, beyond)
    return ""


def quickest(each: Sequence[Elapsed]) -> Elapsed:
    """The shortest times among these."""
    return Elapsed(min(one.wall for one in each), min(one.computing for one in each))


def as_numbers(times: dict[str, Times]) -> dict[str, Any]:
    """Medians in seconds, and how many times as fast the candidate is as each of the others."""
    own = times["candidate"]
    numbers: dict[str, Any] = {}
    for name, other in times.items():
        if len(other.wall) < _engine.fewest_values:
            continue
        numbers[name] = {
            "seconds": statistics.median(other.wall),
            "seconds_of_computing": statistics.median(other.computing),
        }
        if name != "candidate":
            ratios = [theirs / mine for theirs, mine in zip(other.wall, own.wall, strict=True)]
            low, high = _engine.median_interval(ratios)
            numbers[name] |= {"ratio": statistics.median(ratios), "low": low, "high": high}
    return numbers
