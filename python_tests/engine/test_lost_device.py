"""A device that a kernel has made unusable ends the worker, so that no other call is blamed for it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from opgate import _engine
_engine.is_lost = lambda place: place == "cuda" and lost
from opgate.calls.devices import end_if_lost
lost = False
end_if_lost("cuda")
lost = True
end_if_lost("cpu")
end_if_lost("sim")
print("goes on", flush=True)
end_if_lost("cuda")
print("is not reached")
"""


def test_only_a_lost_card_ends_the_process() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (1, "goes on\n"), ran
    assert "the cuda context of this process is lost after this call" in ran.stderr


def test_a_device_that_is_not_there_is_not_lost() -> None:
    words = "from opgate import _engine; print(_engine.is_lost('cpu'), _engine.is_lost('cuda'))"
    ran = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert ran.stdout == "False False\n", ran
