"""The measurement of a candidate that is correct, and what it shows beside the times."""

from __future__ import annotations

from opgate.judge.sandbox.wire import Lost
from opgate.judge.speed.opponents import Opponents
from opgate.judge.speed.speed import Measurement, as_numbers
from opgate.judge.speed.timed_process import TimedProcess
from opgate.judge.truth.truth_process import TruthProcess
from opgate.judge.verdict.judge import Judge

NOW = "calls that were timed"
FEWEST_WRONG = 3
"""So many wrong results of timed calls are no accident, if the same calls are right without a clock."""
AGAIN = 4


def time_candidate(judge: Judge, truth: TruthProcess, opponents: Opponents) -> None:
    """Adds the speed to the verdict, or what the candidate does while it is timed."""
    if judge.has_state == "same" and (judge.examination.altered or judge.examination.changed):
        judge.session.alter(judge.examination.state, judge.seconds)
    sides = {"candidate": TimedProcess(judge.session, judge.seconds)}
    sides |= opponents.ready(judge.examination)
    measurement = Measurement(sides, truth.draw, judge.secret)
    try:
        measurement.run()
        look_at_wrong_results(judge, measurement)
    except Lost as lost:
        judge.verdict.add(lost.how, NOW, lost.evidence)
    judge.note_replaced(NOW)
    for name, why in measurement.lost.items():
        opponents.give_up(name, why)
    if judge.verdict.findings:
        judge.verdict.speed = {"problem": "it is not correct"}
        return
    judge.verdict.speed = as_numbers(measurement.times)
    for name, why in opponents.problems.items():
        judge.verdict.speed[name] = {"problem": why}
    if measurement.why_not:
        judge.verdict.speed = {"problem": measurement.why_not}


def look_at_wrong_results(judge: Judge, measurement: Measurement) -> None:
    """Makes calls again whose timed results were wrong: are they right if nothing is timed?"""
    if not measurement.wrong:
        return
    before = len(judge.calls)
    for answer, _ in measurement.wrong[:AGAIN]:
        judge.call(answer)
    again = judge.calls[before:]
    count = len(measurement.wrong)
    _, first_seen = measurement.wrong[0]
    if again and not any(call.wrong for call in again) and count >= FEWEST_WRONG:
        of_all = f"{count} of {measurement.calls} timed results were wrong"
        seen = f"{of_all}, and right without a clock: {first_seen}"
        judge.verdict.add("idle while it is timed", NOW, seen)
    else:
        judge.verdict.add("wrong values", NOW, first_seen)
