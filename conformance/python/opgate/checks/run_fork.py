"""run.fork: the call works in a process that was forked after the operator had been used."""

from __future__ import annotations

import json
import signal

from opgate import _engine
from opgate.calls.call import Call, first_line
from opgate.calls.forked import in_fork
from opgate.judging.judgement import PASS, Judgement, fail
from opgate.judging.registry import ONCE, check

PROMISED = "the reference's result in a process that was forked after the operator had been used"
PATIENCE = 10  # seconds; a call takes milliseconds, and one that waits for a lost thread takes for ever


def what_is_wrong(call: Call) -> str:
    """What is wrong with the call in this process; empty if nothing is."""
    try:
        results = call.eager()
    except RuntimeError as error:
        return f"it raised: {first_line(error)}"
    judged = json.loads(_engine.judge_results(call.id, results))
    return judged["happened"] if judged["verdict"] == "fail" else ""


@check(
    "run.fork",
    **ONCE,
    device="cpu",  # no process can use CUDA after a fork if the process before has used it
    reference=True,
)
def judge(call: Call) -> Judgement:
    """Calls the operator here, and then in a forked process."""
    call.eager()
    wrong, ended = in_fork(lambda: what_is_wrong(call), PATIENCE)
    if ended == -signal.SIGALRM:
        return fail(
            PROMISED,
            f"in the forked process the call did not return within {PATIENCE} s",
            "it waits for a thread, which a fork does not copy, or for a lock that another thread held",
        )
    if wrong is None:
        how = signal.strsignal(-ended) if ended < 0 else f"with status {ended}"
        return fail(
            PROMISED,
            f"the forked process ended: {how}",
            "it uses something that belongs to the first process, such as a thread, a lock or a mapping",
        )
    if not wrong:
        return PASS
    return fail(
        PROMISED,
        f"in the forked process: {wrong}",
        "a cache is keyed by the process, or is thrown away or half filled in the child",
        differs="values",
    )
