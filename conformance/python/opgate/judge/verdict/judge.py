"""Judges one candidate: calls it in secret order and compares what it returns with what is right."""

from __future__ import annotations

import hashlib
import random
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

import torch

from opgate.judge.sandbox.session import Session
from opgate.judge.sandbox.wire import FORGED, Lost
from opgate.judge.tensors.arguments import same_structure, tensors_of
from opgate.judge.tensors.comparison import is_constant
from opgate.judge.tensors.message import as_message
from opgate.judge.tensors.raw_tensor import from_raw
from opgate.judge.truth.samples import LARGE
from opgate.judge.truth.truth import Examination, RightAnswer
from opgate.judge.verdict.diagnosis import wrong_values
from opgate.judge.verdict.finding import CHEATING, Verdict

REPEATS = 64
"""So many calls follow with arguments that were used before, if they take no longer than this."""
SECONDS_OF_REPEATS = 1.5
MAY_REFUSE = ("sizes", "layout", "edge", "altered", "changed", "further")
"""A candidate may refuse samples of these kinds with an error."""
UNLIKE_DRAWS = ("values", "near")
"""These need not have what all draws of get_inputs() have in common."""
OWN_NAMES = {"sizes": "hard-coded sizes", "layout": "ignores strides"}
"""The name of a mistake that only samples of one kind show."""
EARLIER = 40


@dataclass
class Call:
    """One call that was made, what it has returned, and what was wrong with the values."""

    answer: RightAnswer
    results: list[torch.Tensor]
    digest: str
    is_shared: bool  # with an argument, so that the judge itself writes there
    wrong: tuple[str, str] | None


class Stopped(Exception):
    """No further call makes sense."""


@dataclass
class Judge:
    """One candidate and what is known about it so far."""

    examination: Examination
    session: Session
    verdict: Verdict
    seconds: float  # for one call
    returns_arguments: bool = False  # as the schema of an operator in place promises
    seed: str = field(default_factory=lambda: secrets.token_hex(32))
    calls: list[Call] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)  # samples and errors
    has_state: object = None
    threads: list[int] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    now: str = "the import of the file"
    record: list[dict[str, str]] = field(default_factory=list)  # digests of all calls, for a receipt

    def __post_init__(self) -> None:
        self.secret = random.Random(bytes.fromhex(self.seed))

    def run(self) -> None:
        """Makes all calls and adds what they show to the verdict."""
        try:
            self.load()
            for answer in self.order():
                self.call(answer)
            self.repeat()
            self.with_parameters(self.examination.altered_state, self.examination.altered)
            self.with_parameters(self.examination.changed_state, self.examination.changed)
            if any(call.wrong for call in self.calls):
                time.sleep(0.1)  # a result that is written late shows what was late
            self.read_again("changes after later calls")
        except Lost as lost:
            self.verdict.add(lost.how, self.now, lost.evidence)
        except Stopped:
            pass
        else:
            self.look_at_operators()
        self.note_replaced("every sample")
        self.judge_values()

    def order(self) -> list[RightAnswer]:
        """The samples in secret order; those whose right results have one value come last.

        If such a result came first, nothing would tell a candidate that returns it again from one that
        returns a constant.
        """
        order = list(self.examination.answers)
        self.secret.shuffle(order)
        return sorted(order, key=lambda answer: all(map(is_constant, answer.returned.results)))

    def load(self) -> None:
        """Lets the process import the candidate, with memory that shows whether it was written."""
        self.poison = self.secret.randrange(0x80, 0xF0)
        made_from = self.examination
        head = {"seed": made_from.seed, "poison": self.poison}
        answer = self.session.load(made_from.init, made_from.state, max(600, self.seconds), **head)
        if "raised" in answer:
            self.verdict.add("raises", self.now, str(answer["raised"]))
            raise Stopped
        self.has_state = answer.get("state")
        if self.has_state == "other":
            self.verdict.remarks.append(
                "the module has other parameters than the reference; both were made with the same seed"
            )

    def call(self, answer: RightAnswer) -> None:
        """Makes one call, and reads its results twice."""
        self.now = answer.sample.label
        given = tensors_of(answer.sample.arguments)
        head, contents = as_message(answer.sample.arguments)
        head |= {"do": "call", "call": len(self.calls), "reuse": self.secret.random() < 0.7}
        most = (1 << 24) + 8 * sum(each.nbytes for each in [*given, *answer.returned.results])
        reply, results = self.session.ask(head, contents, self.seconds, most)
        self.verdict.calls += 1
        if "raised" in reply:
            self.note_refusal(answer, str(reply["raised"]))
            return
        if self.note_structure(answer, reply):
            return
        try:
            got = [from_raw(*pair) for pair in zip(reply["results"], results, strict=True)]
        except (KeyError, ValueError, TypeError) as error:
            raise Lost(FORGED, f"a result is not what its description promises: {error}") from None
        if self.note_sizes(answer, got):
            return
        self.note_memory(answer, reply, contents)
        digest = hashlib.sha256(b"".join(results)).hexdigest()
        of_arguments = hashlib.sha256(b"".join(contents)).hexdigest()
        self.record.append({"sample": self.now, "arguments": of_arguments, "results": digest})
        self.threads.append(int(reply.get("threads", 0)))
        wrong = wrong_values(got, answer, given, self.earlier(answer), self.poison)
        self.calls.append(Call(answer, got, digest, any(reply["shared"]), wrong))
        for old in self.calls[: -EARLIER if sum(each.numel() for each in got) < LARGE else -1]:
            old.results = []
        self.read_again("changes after the return", only=head["call"])

    def earlier(self, answer: RightAnswer) -> list[tuple[str, list[torch.Tensor]]]:
        """Right results of calls with other arguments."""
        return [
            (call.answer.sample.label, call.results)
            for call in self.calls[-EARLIER:]
            if call.answer is not answer and call.wrong is None
        ]

    def repeat(self) -> None:
        """Gives arguments again that got an answer before: a candidate may count its calls."""
        again = [call.answer for call in self.calls if call.answer.sample.kind in ("secret", "near")]
        begin = time.monotonic()
        for _ in range(REPEATS if again else 0):
            self.call(self.secret.choice(again))
            if time.monotonic() - begin > SECONDS_OF_REPEATS:
                break

    def with_parameters(self, state: dict[str, torch.Tensor], answers: list[RightAnswer]) -> None:
        """Calls the module with other parameters, if it has taken those of the reference over."""
        if self.has_state != "same" or not answers:
            return
        if "raised" not in self.session.alter(state, self.seconds):
            for answer in answers:
                self.call(answer)

    def read_again(self, how: str, only: int | None = None) -> None:
        """Compares the results that the process has kept with what was read first."""
        reply, _ = self.session.ask({"do": "reread"}, [], self.seconds)
        for number, digest in dict(reply.get("digests", {})).items():
            call = self.calls[int(number)] if int(number) < len(self.calls) else None
            if call is None or (only is not None and int(number) != only):
                continue
            if digest != call.digest and not call.is_shared:
                late = call.wrong is not None and how == "changes after later calls"
                name = "changes after the return" if late else how
                self.verdict.add(
                    name, call.answer.sample.label, "its bytes were others when it was read again"
                )

    def look_at_operators(self) -> None:
        """Asks which of torch's operators a call reaches."""
        answer = next(each for each in self.examination.answers if each.sample.kind == "secret")
        self.now = answer.sample.label
        head, contents = as_message(answer.sample.arguments)
        head |= {"do": "operators", "reuse": False}
        try:
            reply, _ = self.session.ask(head, contents, self.seconds)
        except Lost as lost:
            self.verdict.remarks.append(f"its operators could not be observed: {lost.evidence}")
            return
        self.operators = [str(name) for name in reply.get("operators", [])]

    def note_replaced(self, sample: str) -> None:
        """Functions that the process has replaced by now."""
        if self.session.replaced:
            self.verdict.add("replaces functions", sample, f"replaced: {', '.join(self.session.replaced)}")

    def note_refusal(self, answer: RightAnswer, error: str) -> None:
        """The candidate raised an exception."""
        breaks_structure = bool(self.examination.structures) and answer.sample.kind in UNLIKE_DRAWS
        if answer.sample.kind in MAY_REFUSE or breaks_structure:
            self.refused.append((answer.sample.label, error))
        else:
            self.verdict.add("raises", answer.sample.label, error)

    def note_structure(self, answer: RightAnswer, reply: dict[str, Any]) -> bool:
        """Whether the result is no plain tensor, or not as many as the reference's."""
        if "subclass" in reply:
            self.verdict.add("lazy result", answer.sample.label, f"it is a {reply['subclass']}")
        elif "unusual" in reply:
            self.verdict.add("unusual result", answer.sample.label, str(reply["unusual"]))
        elif not same_structure(reply.get("structure"), answer.returned.structure):
            seen = f"{reply.get('structure')} instead of {answer.returned.structure}"
            self.verdict.add("other sizes or dtype", answer.sample.label, seen)
        else:
            return False
        return True

    def note_sizes(self, answer: RightAnswer, got: list[torch.Tensor]) -> bool:
        """Whether sizes or dtypes are not the reference's."""
        for one, right in zip(got, answer.returned.results, strict=True):
            if one.shape != right.shape or one.dtype != right.dtype:
                seen = f"{one.dtype} {list(one.shape)} instead of {right.dtype} {list(right.shape)}"
                name = "hard-coded sizes" if answer.sample.kind == "sizes" else "other sizes or dtype"
                self.verdict.add(name, answer.sample.label, seen)
                return True
        return False

    def note_memory(self, answer: RightAnswer, reply: dict[str, Any], contents: list[bytes]) -> None:
        """Arguments that were changed, and results in the memory of arguments."""
        for number, content in enumerate(contents):
            digest = hashlib.sha256(content).hexdigest()
            if reply["arguments"][number] != digest and number not in answer.returned.written:
                self.verdict.add(
                    "overwrites an argument", answer.sample.label, f"argument {number} is changed"
                )
        for shared, right in zip(reply["shared"], answer.returned.shared, strict=True):
            for number in set(shared) - set(right):
                self.verdict.add(
                    "shares memory with an argument",
                    answer.sample.label,
                    f"a result lies in argument {number}",
                )
            if self.returns_arguments and set(right) - set(shared):
                self.verdict.add(
                    "is not the argument",
                    answer.sample.label,
                    f"the schema returns argument {min(right)}, and the result is another tensor",
                )

    def judge_values(self) -> None:
        """Names the mistakes in the values, by the samples that show them and those that do not."""
        self.verdict.samples = len({id(call.answer) for call in self.calls})
        wrong = {call.answer.sample.kind for call in self.calls if call.wrong}
        right = {call.answer.sample.kind for call in self.calls if not call.wrong}
        is_explained = any(call.wrong and call.wrong[0] in CHEATING for call in self.calls)
        if self.has_turned() and not is_explained:
            self.verdict.add("changes its behaviour", *self.first_turn())
            return
        if "public" not in wrong and "secret" not in right and {"public"} <= right and {"secret"} <= wrong:
            evidence = "right for the seeds 0 and 42, and wrong for every secret seed"
            self.verdict.add("memorised values", "every secret sample", evidence)
        unusual = {"edge", "altered", "changed"}
        guesses = bool(self.examination.structures) and bool(wrong & {*UNLIKE_DRAWS})
        if guesses and not wrong & {"public", "secret", "spec"}:
            call = next(c for c in self.calls if c.wrong and c.answer.sample.kind in UNLIKE_DRAWS)
            in_all = ", ".join(self.examination.structures)
            seen = f"{in_all} in every draw; {call.wrong[1] if call.wrong else ''}"
            self.verdict.add("guessed structure", call.answer.sample.label, seen)
            return
        for call in self.calls:
            if call.wrong is None:
                continue
            name, seen = call.wrong
            kind = call.answer.sample.kind
            if kind in unusual:
                if wrong <= unusual:
                    self.doubt(call.answer, name, seen)
                continue
            if wrong - unusual == {kind} and name not in CHEATING:
                name = OWN_NAMES.get(kind, name)
            self.verdict.add(name, call.answer.sample.label, seen)
        self.verdict.drop_explained()

    def doubt(self, answer: RightAnswer, name: str, seen: str) -> None:
        """Wrong values for what get_inputs() and the module's own parameters never are, or are later."""
        if answer.sample.kind == "changed":
            self.verdict.remarks.append(
                "it does not follow parameters that change after the first call, as in training: it has kept "
                "what it made of them"
            )
            return
        if answer.sample.kind == "edge":
            reason = f"{name} only with {answer.sample.label}, which no draw has: {seen}"
            if self.examination.structures:
                # A zero that the structure promises times an infinity is NaN only if it is computed.
                in_all = ", ".join(self.examination.structures)
                self.verdict.remarks.append(f"{reason}; in every draw {in_all}")
                return
        else:
            names = ", ".join(self.examination.altered_names)
            reason = (
                f"it leaves out {names}, or has copied them when it was made: other values change nothing"
            )
        if reason not in self.verdict.unclear:
            self.verdict.unclear.append(reason)

    def has_turned(self) -> bool:
        """Whether all calls with secret draws were right up to one of them, and wrong from then on."""
        pattern = [call.wrong is not None for call in self.calls if call.answer.sample.kind == "secret"]
        return pattern == sorted(pattern) and 3 <= sum(pattern) <= len(pattern) - 2

    def first_turn(self) -> tuple[str, str]:
        """The sample and the call from which on answers are wrong."""
        number, call = next(
            (n, call)
            for n, call in enumerate(self.calls, 1)
            if call.wrong and call.answer.sample.kind == "secret"
        )
        return call.answer.sample.label, f"wrong from call {number} on: {call.wrong[1] if call.wrong else ''}"
