"""Judges one call by all its checks, those of the engine and those written in Python."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from opgate import _engine
from opgate.call import Call, OtherValues, Refused, first_line
from opgate.judgement import Judgement, invalid, owed
from opgate.registry import Check

NO_FAKE = "there is no fake kernel to check; see fake.exists"


def judge_call(
    call: Call, names: Sequence[str], in_python: Mapping[str, Check]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgements as JSON, by check, and {"facts": ...} where a native check judged the call.

    Raises RuntimeError for a check or call that does not exist.
    """
    judgements: dict[str, Any] = {}
    facts: dict[str, Any] = {}
    if native := [name for name in names if name not in in_python]:
        said = json.loads(_engine.judge(call.id, native))
        judgements |= said.pop("judgements")
        facts = said
    for name in names:
        if name in in_python:
            judgements[name] = _judged(in_python[name], call)
    return judgements, facts


def _judged(check: Check, call: Call) -> dict[str, Any]:
    before = _engine.ProcessState()
    try:
        if missing := check.missing():
            return owed(missing).as_json()
        if check.needs_fake and not call.is_model and call.described["lacks_fake"]:
            return owed(NO_FAKE).as_json()
        if check.needs_package and (reason := call.packages.not_tried(call)):
            return owed(reason).as_json()
        judgement = check.judge(call)
        if call.place == "sim" and (missing := _missing_of_simulator(judgement)):
            return owed(missing).as_json()
        return judgement.as_json()
    except OtherValues as error:
        return owed(str(error)).as_json()
    except Refused as error:
        if not call.id.rpartition("/")[0].endswith("/contiguous"):  # other checks judge what is refused
            return Judgement("pass", reason=f"nothing to judge: {error}").as_json()
        return invalid(str(error)).as_json()
    except Exception as error:  # a judge that raises is a bug of OpGate, which the verdict reports
        return invalid(f"OpGate itself failed: {first_line(error)}").as_json()
    finally:
        _restore(before)


# Libraries without PTX, and a compiler that asks the driver to load its machine code.
NOT_SIMULATED = ("triton", "CUBLAS_STATUS", "CUDNN_STATUS", "cusolver", "cusparse", "cufft")


def _missing_of_simulator(judgement: Judgement) -> str:
    """Why a call that failed on the simulated device tells nothing of the operator; empty where it does."""
    missing = _engine.not_simulated()
    if judgement.verdict == "pass":
        return ""
    told = judgement.reason + judgement.happened
    needed = next((name for name in NOT_SIMULATED if name.lower() in told.lower()), "")
    return missing or (needed and f"it needs {needed.partition('_')[0]}, which is not simulated")


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
