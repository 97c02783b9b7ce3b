"""Judges one call by all its checks, those of the engine and those written in Python."""

from __future__ import annotations

import json
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
        devices.take_failure(call.place)  # of what came before
        judgement = _judgement(check, call)
        if call.place == "sim":
            said = f"{judgement.reason} {judgement.happened}"
            if instead := _engine.verdict_of_simulator(judgement.verdict == "pass", said):
                return json.loads(instead)
        return judgement.as_json()
    finally:
        before.restore_or_end()


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
