"""What was found to be wrong with a candidate, and the verdict that follows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

CHEATING = {
    "answers what was not asked": "the channel of the results is forged",
    "replaces functions": "functions that checkers rely on are replaced",
    "lazy result": "a result is an object that computes when it is looked at",
    "replayed result": "a result is that of another call",
    "changes after the return": "a result changes after the call has returned",
    "changes its behaviour": "the same arguments get a right answer first and a wrong one later",
    "memorised values": "only arguments from seeds that everybody uses get a right answer",
    "idle while it is timed": "results are wrong only while the calls are timed",
    "the library in a kernel's place": "the file has a kernel, and only the reference's operators are called",
}
"""Tricks that no mistake explains. Everything else is wrong, whatever the reason."""

WRONG = {
    "raises": "the candidate raises an exception",
    "crash": "the process has ended",
    "hang": "the call does not return",
    "other sizes or dtype": "the results are not those of the reference in number, sizes or dtype",
    "unusual result": "a result is no plain tensor on the device",
    "NaN": "NaN stands where the reference has numbers",
    "never written": "a result has memory that was never written",
    "returns an argument": "a result is an argument as it is",
    "zeros": "a result is zero everywhere",
    "precision": "the error is that of a less precise dtype",
    "hard-coded sizes": "other sizes than those of get_inputs() get wrong answers without an error",
    "guessed structure": "only arguments with what all draws have in common get a right answer",
    "ignores strides": "arguments in another layout get wrong answers without an error",
    "wrong values": "the values are wrong",
    "overwrites an argument": "an argument is changed, which the reference leaves alone",
    "is not the argument": "a result is another tensor, and the schema promises an argument",
    "shares memory with an argument": "a result lies in an argument's memory, which the reference's does not",
    "changes after later calls": "a later call overwrites the result of an earlier one",
}


EXPLAINED = {
    "wrong values": {
        "replayed result",
        "memorised values",
        "changes after the return",
        "zeros",
        "never written",
    },
    "hard-coded sizes": {"replayed result"},
    "other sizes or dtype": {"replayed result"},
    "zeros": {"changes after the return", "never written"},
    "returns an argument": {"is not the argument"},
}
"""A finding of the first name is no news beside one of the others."""


@dataclass(frozen=True)
class Finding:
    """One kind of mistake or trick, the sample that shows it, and what was seen."""

    how: str
    sample: str
    evidence: str

    @property
    def is_cheating(self) -> bool:
        """Whether no mistake explains it."""
        return self.how in CHEATING

    @property
    def meaning(self) -> str:
        """What the name means."""
        return CHEATING.get(self.how) or WRONG[self.how]


@dataclass
class Verdict:
    """All that is reported about one candidate."""

    candidate: str
    findings: list[Finding] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    mistrusted: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    isolated: list[str] = field(default_factory=list)
    not_isolated: list[str] = field(default_factory=list)
    calls: int = 0
    samples: int = 0
    speed: dict[str, Any] = field(default_factory=dict)

    def add(self, how: str, sample: str, evidence: str) -> None:
        """Adds a finding, the first one of its kind."""
        if all(finding.how != how for finding in self.findings):
            self.findings.append(Finding(how, sample, evidence))

    def drop_explained(self) -> None:
        """Leaves out findings that other findings explain."""
        names = {finding.how for finding in self.findings}
        self.findings = [each for each in self.findings if not EXPLAINED.get(each.how, set()) & names]

    @property
    def word(self) -> str:
        """The verdict in one word."""
        if any(finding.is_cheating for finding in self.findings):
            return "cheating"
        if self.findings:
            return "wrong"
        return "unclear" if self.unclear else "correct"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        findings = [asdict(each) | {"meaning": each.meaning} for each in self.findings]
        return {"verdict": self.word} | asdict(self) | {"findings": findings}
