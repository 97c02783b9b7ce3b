"""The judge's side of a candidate's process: messages with numbers that are unknown before they are sent."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import tempfile
import time
from typing import Any

from opgate.judge.sandbox.guarded_functions import replaced
from opgate.judge.sandbox.spawner import Spawner
from opgate.judge.sandbox.wire import FORGED, ChannelClosed, Lost, TookTooLong, receive, send
from opgate.judge.subject.source_file import SourceFile
from opgate.judge.tensors.message import saved


class Session:
    """One process of a candidate, from its start to the end of all that it has started."""

    def __init__(self, spawner: Spawner, source: SourceFile, device: str) -> None:
        self.spawner = spawner
        self.replaced: list[str] = []
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the session)
        to_read, self.commands = os.pipe()
        self.answers, to_write = os.pipe()
        os.set_blocking(self.commands, False)
        which = json.dumps(source.as_json() | {"device": device})
        self.process, self.isolated = spawner.start(which, to_read, to_write, self.log.fileno())
        os.close(to_read)
        os.close(to_write)

    def ask(
        self,
        head: dict[str, Any],
        blobs: list[bytes],
        seconds: float,
        most: int = 1 << 20,
        *,
        is_brief: bool = False,
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Sends a message and waits for its answer, which has at most so many bytes. Raises Lost.

        A brief answer does not have the addresses of functions.
        """
        nonce = secrets.token_hex(16)
        deadline = time.monotonic() + seconds
        try:
            with contextlib.suppress(BrokenPipeError):
                send(self.commands, head | {"nonce": nonce}, blobs, deadline)
            answer, contents = receive(self.answers, deadline, most)
        except TookTooLong:
            raise Lost("hang", f"there was no answer within {seconds:.3g} s") from None
        except ChannelClosed:
            raise self.lost() from None
        if answer.get("nonce") != nonce:
            raise Lost(FORGED, "a result arrived that does not carry the number of its call")
        if not is_brief:
            self.replaced = self.replaced or replaced(answer.get("addresses"))
        return answer, contents

    def load(self, init: list[Any], state: dict[str, Any], seconds: float, **head: object) -> dict[str, Any]:
        """Lets the process import the candidate and make it, with these parameters if it takes them."""
        return self.ask({"do": "load"} | head, [saved((init, state))], seconds)[0]

    def alter(self, state: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Gives the candidate other parameters."""
        return self.ask({"do": "alter"}, [saved(state)], seconds)[0]

    def lost(self) -> Lost:
        """How the process has ended, of itself."""
        status = self.end()
        if status == 0:
            return Lost(FORGED, "the process ended with status 0 in the middle of a call")
        if status > 128:
            with contextlib.suppress(ValueError):
                return Lost(
                    "crash", f"the process was ended by {signal.Signals(status - 128).name}{self.said()}"
                )
        return Lost("crash", f"the process ended with status {status}{self.said()}")

    def said(self) -> str:
        """The last line that the process has written to its outputs."""
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - 4096))
        lines = [line for line in self.log.read().decode(errors="replace").splitlines() if line.strip()]
        return f": {lines[-1].strip()[:200]}" if lines else ""

    def end(self) -> int:
        """Ends the process and all that it has started; returns the status."""
        if self.process:
            os.close(self.commands)
            os.close(self.answers)
            if not self.spawner.has_news(0.3):  # otherwise it has ended by itself
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process, signal.SIGKILL)
            self.status = self.spawner.ended()
            self.process = 0
        return self.status
