"""The process that starts candidates ends them when the judge is interrupted."""

from __future__ import annotations

import subprocess
import sys

CLOSED_WHILE_IT_STARTS = """
import os, socket, sys, time
from opgate.judge.sandbox.spawner import Limits, Spawner

spawner = Spawner(lambda which, commands, answers: time.sleep(600), Limits(None, 600))
read, write = os.pipe()
socket.send_fds(spawner.here, [b"x"], [read, write, sys.stderr.fileno()])
if sys.argv[1] == "started":
    spawner.here.recv(1 << 16)
spawner.close()
print("ended")
"""


def test_a_candidate_ends_with_its_judge_at_any_time() -> None:
    """Also before the judge has learnt which process it is."""
    for when in ("starts", "started"):
        run = subprocess.run(
            [sys.executable, "-c", CLOSED_WHILE_IT_STARTS, when],
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert (run.returncode, run.stdout) == (0, "ended\n"), run
