"""The verdict as text for a person."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from opgate.judge.verdict.finding import Verdict

MOST_LINES = 12


def report(verdict: Verdict) -> str:
    """The verdict, what was seen, and how far it reaches."""
    lines = [f"{verdict.word:8}  {verdict.candidate}", *findings(verdict)]
    for label, texts in (
        ("unclear", verdict.unclear),
        ("mistrusts", verdict.mistrusted),
        ("remark", verdict.remarks),
        ("left out", verdict.left_out),
    ):
        lines += [f"  {label:10} {text}" for text in texts[:MOST_LINES]]
        if len(texts) > MOST_LINES:
            lines.append(f"  {label:10} and {len(texts) - MOST_LINES} more; --json has them")
    lines.append(f"  calls      {verdict.calls} with {verdict.samples} samples")
    lines += [f"  speed      {text}" for text in speed_lines(verdict)]
    lines.append(f"  isolated   {', '.join(verdict.isolated) or 'nothing'}")
    if verdict.not_isolated:
        lines.append(f"  open       {', '.join(verdict.not_isolated)}: not isolated or limited here")
    return "\n".join(lines)


def findings(verdict: Verdict) -> list[str]:
    """What was seen to be wrong."""
    lines = []
    for finding in verdict.findings:
        lines += [
            f"  {'cheat' if finding.is_cheating else 'wrong'}      {finding.how}: {finding.meaning}",
            f"    on       {finding.sample}",
            f"    seen     {finding.evidence}",
        ]
    return lines


def row(operator: str, verdict: Verdict) -> str:
    """A line for one of many kernels, with what was seen if it is not correct."""
    file = Path(verdict.candidate.rpartition(":")[0]).name
    lines = [f"{verdict.word:8}  {operator:32}  {file}", *findings(verdict)]
    if not verdict.findings:
        lines += [f"  unclear    {text}" for text in verdict.unclear[:MOST_LINES]]
    return "\n".join(lines)


def summary(verdicts: list[Verdict]) -> str:
    """How many of the kernels got which verdict."""
    counts = Counter(verdict.word for verdict in verdicts)
    words = ", ".join(
        f"{counts[word]} {word}" for word in ("correct", "wrong", "cheating", "unclear") if counts[word]
    )
    return f"{len(verdicts)} kernel{'s' * (len(verdicts) != 1)}: {words}"


def speed_lines(verdict: Verdict) -> list[str]:
    """How fast the candidate is, or that nothing was timed."""
    speed = verdict.speed
    own = speed.get("candidate")
    if own is None:
        return [f"not measured: {speed.get('problem', 'it is not correct')}"]
    compared = []
    for name, words in (("reference", "the reference"), ("compiled", "torch.compile of it")):
        other = speed.get(name)
        if other is None:
            continue
        if "problem" in other:
            compared.append(f"{words} fails ({other['problem']})")
            continue
        beside = f"{duration(own['seconds'])} beside {duration(other['seconds'])}"
        interval = f"interval {other['low']:.3g} to {other['high']:.3g}"
        compared.append(f"{other['ratio']:.3g} times as fast as {words} ({beside}, {interval})")
    return [", ".join(compared), computing_line(own, speed.get("reference", {}))]


def computing_line(own: dict[str, Any], other: dict[str, Any]) -> str:
    """The computing of all cores for a call."""
    text = f"{duration(own['seconds_of_computing'])} of computing on all cores"
    if "seconds_of_computing" in other:
        text += f" beside {duration(other['seconds_of_computing'])} of the reference"
    return text


def duration(seconds: float) -> str:
    """In a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
