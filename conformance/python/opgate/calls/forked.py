"""What a call does in a forked process, which may crash or hang there."""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections.abc import Callable
from typing import Any

import torch

ENDING = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGALRM)
"""Signals of which the process before the fork may have handlers."""


def in_fork(compute: Callable[[], Any], seconds: int) -> tuple[Any, int]:
    """What `compute` returns in a forked process, as JSON holds it, and 0.

    If that process ends before, None and its exit status, or minus the number of the signal that ended it:
    SIGALRM after so many seconds.
    """
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            for number in ENDING:
                signal.signal(number, signal.SIG_DFL)
            signal.alarm(seconds)
            torch.set_num_threads(1)  # as in a DataLoader's worker: a pool of threads does not survive a fork
            os.write(write, (json.dumps(compute()) + "\n").encode())
            os._exit(0)
        finally:
            os._exit(1)  # without what Python and libraries do at exit
    os.close(write)
    with os.fdopen(read) as answers:
        answer = answers.readline()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return (json.loads(answer), 0) if answer.endswith("\n") else (None, status)
