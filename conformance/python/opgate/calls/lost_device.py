"""A device that a kernel has made unusable: each later call in the process would repeat its error."""

from __future__ import annotations

import os
import sys

from opgate import _engine


def end_if_lost(place: str) -> None:
    """Ends the process, as native workers do: the supervisor blames what it was working on.

    The next calls get a process of their own. A simulated device is repaired instead.
    """
    if place != "cuda" or not _engine.is_lost(place):
        return
    print(f"the {place} context of this process is lost after this call", file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)
