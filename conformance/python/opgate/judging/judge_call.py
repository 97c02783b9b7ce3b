"""Judges one call by all its checks, those of the engine and those written in Python."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opgate import _engine
from opgate.calls import devices
from opgate.calls.call import Call, OtherValues, Refused, first_line
from opgate.calls.case_id import CaseId
from opgate.judging.judgement import Judgement, invalid, owed
from opgate.judging.registry import Check


def judge_call(
    call: Call,
    names: Sequence[str],
    in_python: Mapping[str, Check],
    begin: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgements as JSON, by check, and {"facts": ...} where a native check judged the call.

    `begin` is given what comes next, for the progress of the run. Raises RuntimeError for a check or call
    that does not exist.
    """
    devices.start(call.device)
    judgements: dict[str, Any] = {}
    facts: dict[str, Any] = {}
    if native := [name for name in names if name not in in_python]:
        begin(call.id)
        said = json.loads(_engine.judge(call.id, native))
        judgements |= said.pop("judgements")
        facts = said
    for name in names:
        if name in in_python:
            begin(f"{call.id}/{name}")
            judgements[name] = _judged(in_python[name], call)
    return judgements, facts


def _judged(check: Check, call: Call) -> dict[str, Any]:
    before = _engine.ProcessState()
    try:
        if call.place != "sim":
            return _judgement(check, call).as_json()
        _engine.simulated_failure()  # of what came before
        return _of_simulator(_judgement(check, call)).as_json()
    finally:
        _restore(before)


def _judgement(check: Check, call: Call) -> Judgement:
    try:
        no_package = call.packages.not_tried(call) if check.needs_package else None
        obstacle = _engine.obstacle(call.id, check.missing(), check.needs_fake, no_package)
        return owed(obstacle) if obstacle else check.judge(call)
    except OtherValues as error:
        return owed(str(error))
    except Refused as error:
        if CaseId.of_call(call.id).variant != "contiguous":  # other checks judge what is refused
            return Judgement("pass", reason=f"nothing to judge: {error}")
        return invalid(str(error))
    except Exception as error:  # a judge that raises is a bug of OpGate, which the verdict reports
        return invalid(f"OpGate itself failed: {first_line(error)}")


def _of_simulator(judgement: Judgement) -> Judgement:
    """The judgement of a call on the simulated device, whose own limits say nothing about the operator."""
    what, failed, unsupported, frame, error = _engine.simulated_failure() or ("", False, False, "", "")
    if judgement.verdict == "pass" and not failed:
        return judgement
    if needed := _engine.unsimulated_library(f"{judgement.reason} {judgement.happened}"):
        return owed(f"it needs {needed}, which is not simulated")
    if unsupported:
        return owed(what)
    if not failed:
        return judgement
    ended = f"the simulated device failed: {error}"
    return Judgement(
        "crash",
        reason=f"{ended}; {what}" if what else ended,
        ended=ended,
        remarks=what,
        stack=[frame] if frame else [],
    )


def _restore(before: _engine.ProcessState) -> None:
    """Restores the state that a check left changed, so that the next operator finds the process as it was.

    Ends the process where that is impossible: the supervisor blames this call, and starts another worker.
    """
    if not before.changes():
        return
    before.restore()
    if left := before.changes():
        print(
            "the operator changed the state of the process, which cannot be restored:", *left, file=sys.stderr
        )
        sys.stderr.flush()
        os._exit(1)
