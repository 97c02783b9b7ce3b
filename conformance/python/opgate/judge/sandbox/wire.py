"""The messages between the judge and the process of a candidate: JSON and raw bytes, and nothing that runs.

A message is the length of its head, the head in JSON, and the blobs whose lengths the head lists.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from typing import Any

MOST_HEAD = 1 << 24
MOST_BLOB = 1 << 40


FORGED = "answers what was not asked"


class Lost(Exception):
    """The process at the other end has ended, was ended, or answers what was not asked."""

    def __init__(self, how: str, evidence: str) -> None:
        super().__init__(evidence)
        self.how = how  # FORGED, or "crash", "hang", "unusual result"
        self.evidence = evidence


class ChannelClosed(Exception):
    """The other side has closed the channel."""


class TookTooLong(Exception):
    """No whole message arrived in time."""


def send(
    descriptor: int, head: dict[str, Any], blobs: list[bytes] | None = None, deadline: float | None = None
) -> None:
    """Writes one message. Raises BrokenPipeError if no process reads, and TookTooLong.

    With a deadline, the descriptor must not block.
    """
    blobs = blobs or []
    text = json.dumps(head | {"blobs": [len(blob) for blob in blobs]}).encode()
    for part in (struct.pack("<I", len(text)) + text, *blobs):
        rest = memoryview(part)
        while len(rest):
            try:
                rest = rest[os.write(descriptor, rest[: 1 << 20]) :]
            except BlockingIOError:
                remaining = (deadline or 0) - time.monotonic()
                if remaining <= 0 or not select.select([], [descriptor], [], remaining)[1]:
                    raise TookTooLong from None


def receive(
    descriptor: int, deadline: float | None = None, most: int = MOST_BLOB
) -> tuple[dict[str, Any], list[bytes]]:
    """Reads one message of at most so many bytes.

    Raises ChannelClosed, TookTooLong, or Lost for a longer message and for what is none.
    """
    (length,) = struct.unpack("<I", exactly(descriptor, 4, deadline))
    if not 0 < length <= MOST_HEAD:
        raise not_of_opgate("the length of a message is not valid")
    try:
        head = json.loads(exactly(descriptor, length, deadline))
        lengths = head.pop("blobs")
        if not all(isinstance(size, int) and size >= 0 for size in lengths):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise not_of_opgate("a message has no valid head") from None
    if sum(lengths) > most:
        raise Lost("unusual result", f"the results have {sum(lengths)} bytes")
    return head, [exactly(descriptor, size, deadline) for size in lengths]


def not_of_opgate(why: str) -> Lost:
    """The error for what is no message of this format."""
    return Lost(FORGED, f"what came from the process is not OpGate's: {why}")


def exactly(descriptor: int, count: int, deadline: float | None) -> bytes:
    """Reads so many bytes."""
    parts = bytearray()
    while len(parts) < count:
        if deadline is not None:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
                raise TookTooLong
        part = os.read(descriptor, min(count - len(parts), 1 << 20))
        if not part:
            raise ChannelClosed
        parts += part
    return bytes(parts)
