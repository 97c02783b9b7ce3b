"""The judge's side of a process whose calls are timed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgate.judge.sandbox.session import Session
from opgate.judge.sandbox.wire import FORGED, Lost
from opgate.judge.tensors.message import as_message
from opgate.judge.tensors.raw_tensor import from_raw

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Elapsed:
    """What some calls took together, in seconds: by the clock, and of computing."""

    wall: float
    computing: float


class TimedProcess:
    """Lays out arguments in a process, lets it call, and reads the results."""

    def __init__(self, session: Session, seconds: float) -> None:
        self.session = session
        self.seconds = seconds

    def lay_out(self, sets: Sequence[Sequence[Any]]) -> None:
        """Gives the process these sets of arguments. Raises Lost."""
        heads: list[dict[str, Any]] = []
        contents: list[bytes] = []
        for arguments in sets:
            head, own = as_message(arguments)
            heads.append(head)
            contents += own
        reply, _ = self.session.ask({"do": "lay out", "sets": heads}, contents, max(60, self.seconds))
        if "raised" in reply:
            raise Lost("unusual result", f"the arguments cannot be laid out: {reply['raised']}")

    def time(self, count: int, places: Sequence[float]) -> tuple[Elapsed, dict[str, Any]]:
        """What so many calls take together with the channel, and the answer. Raises Lost."""
        message = {"do": "go", "count": count, "places": list(places)}
        before = self.computing()
        begin = time.perf_counter()
        reply, _ = self.session.ask(message, [], self.seconds * max(1, count), is_brief=True)
        wall = time.perf_counter() - begin
        return Elapsed(wall, self.computing() - before), reply

    def results(self, most: int) -> tuple[list[dict[str, Any]], list[list[torch.Tensor]]]:
        """What the calls returned: the answers without their bytes, and the tensors. Raises Lost."""
        reply, contents = self.session.ask({"do": "collect"}, [], max(60, self.seconds), most)
        returned, left = [], list(contents)
        try:
            for each in reply["returned"]:
                geometries = each.get("results", [])
                own, left = left[: len(geometries)], left[len(geometries) :]
                returned.append([from_raw(*pair) for pair in zip(geometries, own, strict=True)])
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise Lost(FORGED, f"a result is not what its description promises: {error}") from None
        return reply["returned"], returned

    def computing(self) -> float:
        """The seconds that all cores have computed for the process and all that it has started."""
        return sum(map(computing_of, descendants(self.session.process)))


def descendants(process: int) -> list[int]:
    """The processes below this one."""
    found, generation = [], [process]
    while generation:
        generation = [child for each in generation for child in children(each)]
        found += generation
    return found


def children(process: int) -> list[int]:
    """The processes that this one has started, by any of its threads."""
    try:
        lists = [(task / "children").read_text() for task in Path(f"/proc/{process}/task").iterdir()]
    except OSError:  # it has ended, or the kernel keeps no such list
        return []
    return [int(each) for text in lists for each in text.split()]


def computing_of(process: int) -> float:
    """The seconds of computing of a process, of its threads, and of its children that have ended."""
    cpu_clock = (~process << 3) | 2  # as clock_getcpuclockid(3) makes it
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return time.clock_gettime(cpu_clock) + (int(fields[13]) + int(fields[14])) / TICKS
    except OSError:
        return 0.0
