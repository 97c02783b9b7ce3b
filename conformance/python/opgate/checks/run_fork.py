"""run.fork: the call works in a process that was forked after the operator had been used."""

from __future__ import annotations

import json
import os
import select
import signal
import time
import warnings

import torch

from opgate import _engine
from opgate.calls.call import Call, first_line
from opgate.judging.judgement import PASS, Judgement, fail
from opgate.judging.registry import check

PROMISED = "the reference's result in a process that was forked after the operator had been used"
PATIENCE = 10.0  # seconds; a call takes milliseconds, and one that waits for a lost thread takes for ever
FATAL = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)


def wrong_in_child(call: Call) -> str:
    """What is wrong with the call in this process; empty if nothing is."""
    torch.set_num_threads(1)  # as in a DataLoader's worker: OpenMP's threads are not there after a fork
    try:
        results = call.eager()
    except RuntimeError as error:
        return f"it raised: {first_line(error)}"
    judged = json.loads(_engine.judge_results(call.id, results))
    return judged["happened"] if judged["verdict"] == "fail" else ""


def be_child(call: Call, answers: int) -> None:
    """Answers and ends the process, without what Python and libraries do at exit."""
    status = 1
    try:
        for number in FATAL:
            signal.signal(number, signal.SIG_DFL)
        os.write(answers, (wrong_in_child(call) + "\n").encode())
        status = 0
    finally:
        os._exit(status)


def answer_of(child: int, answers: int) -> tuple[str, int] | None:
    """What the child wrote and its status, once it has ended. None if it was killed for its silence."""
    text = b""
    until = time.monotonic() + PATIENCE
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([answers], [], [], max(until - time.monotonic(), 0))
        if not ready:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        part = os.read(answers, 1 << 16)
        if not part:
            break
        text += part
    return text.decode(), os.waitpid(child, 0)[1]


@check(
    "run.fork",
    variants="contiguous",
    dtypes="first",
    first_sample=True,
    device="cpu",  # no process can use CUDA after a fork if the process before has used it
    reference=True,
)
def judge(call: Call) -> Judgement:
    """Calls the operator here, and then in a forked process."""
    call.eager()
    answers, for_child = os.pipe()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
        child = os.fork()
    if child == 0:
        be_child(call, for_child)
    os.close(for_child)
    try:
        answered = answer_of(child, answers)
    finally:
        os.close(answers)
    if answered is None:
        return fail(
            PROMISED,
            f"in the forked process the call did not return within {PATIENCE:.0f} s",
            "it waits for a thread, which a fork does not copy, or for a lock that another thread held",
        )
    text, status = answered
    if not text.endswith("\n"):
        ended = os.waitstatus_to_exitcode(status)
        how = signal.strsignal(-ended) if ended < 0 else f"with status {ended}"
        return fail(
            PROMISED,
            f"the forked process ended: {how}",
            "it uses something that belongs to the first process, such as a thread, a lock or a mapping",
        )
    if not text.strip():
        return PASS
    return fail(
        PROMISED,
        f"in the forked process: {text.strip()}",
        "a cache is keyed by the process, or is thrown away or half filled in the child",
        differs="values",
    )
