"""What follows from all calls together: what the samples cannot tell, and where the library was called."""

from __future__ import annotations

from collections import Counter

from opgate.judge.subject.called_operators import that_work
from opgate.judge.subject.kernel_claims import claimed_kernel
from opgate.judge.subject.source_file import SourceFile
from opgate.judge.truth.trivial_answers import HALF, OTHER_DRAW
from opgate.judge.verdict.judge import Judge


def conclude(judge: Judge, source: SourceFile, device: str) -> None:
    """Adds these conclusions to the verdict."""
    verdict, examination = judge.verdict, judge.examination
    verdict.left_out += examination.left_out
    if examination.unclear:
        verdict.unclear.append(examination.unclear)
    mistrust(judge)
    refusals(judge)
    if judge.calls:
        look_at_library(judge, source.text(), device)
    threads = judge.threads
    if len(threads) > 8 and threads[-1] - threads[4] > len(threads) // 2:
        verdict.remarks.append(f"threads are left behind: {threads[4]} at first, {threads[-1]} at last")
    if examination.altered_names and judge.has_state == "other":
        names = ", ".join(examination.altered_names)
        verdict.remarks.append(f"no sample can tell whether these parameters of one value are used: {names}")
    reasons = {answer.without_double for answer in examination.answers} - {""}
    if reasons:
        verdict.remarks.append(f"the reference was not called in double ({min(reasons)}): bounds are wider")


def mistrust(judge: Judge) -> None:
    """Names the samples on which a trivial answer is right; a run in which one is always right is unclear."""
    usual = [answer for answer in judge.examination.answers if answer.sample.kind != "edge"]
    edges = [answer for answer in judge.examination.answers if answer.sample.kind == "edge"]
    passing = Counter(name for answer in usual for name in answer.trivial)
    for name, count in sorted(passing.items()):
        if count == len(usual):
            labels = "every sample"
            # For an operator such as isnan, only NaN decides.
            if name not in (HALF, OTHER_DRAW) and all(name in answer.trivial for answer in edges):
                judge.verdict.unclear.append(f"on every sample {name} would pass as well")
        else:
            labels = ", ".join(answer.sample.label for answer in usual if name in answer.trivial)
        judge.verdict.mistrusted.append(f"{labels}: {name} would pass")


def refusals(judge: Judge) -> None:
    """Samples that the candidate refuses with an error, though the reference does not."""
    for label, error in judge.refused[:8]:
        judge.verdict.remarks.append(f"refuses {label}: {error.splitlines()[0][:160]}")


def look_at_library(judge: Judge, text: str, device: str) -> None:
    """Compares the operators that the candidate calls with those of the reference."""
    own, of_reference = that_work(judge.operators), that_work(judge.examination.operators)
    if not own:
        return
    named = ", ".join(sorted(set(own)))
    claim, runs_here = claimed_kernel(text, device)
    if claim and Counter(own) == Counter(of_reference):
        if runs_here:
            seen = f"the file has `{claim}`, and a call reaches these operators alone: {named}"
            judge.verdict.add("the library in a kernel's place", "a draw with a secret seed", seen)
            return
        judge.verdict.unclear.append(
            f"the file has `{claim}`, a kernel for CUDA; on the CPU a call reaches only {named}"
        )
    elif set(own) & set(of_reference):
        judge.verdict.remarks.append(f"calls operators of the library that the reference calls: {named}")
