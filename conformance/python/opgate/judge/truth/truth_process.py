"""The judge's side of the reference's process."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import signal
import sys
from typing import Any

import torch

from opgate.judge.sandbox import isolation
from opgate.judge.sandbox.wire import ChannelClosed, receive, send
from opgate.judge.subject.source_file import SourceFile
from opgate.judge.truth.truth import Examination, RightAnswer, serve
from opgate.request import UserError


class TruthProcess:
    """A fork that loads the reference and never a candidate."""

    def __init__(self, source: SourceFile) -> None:
        self.secret = ""
        to_read, self.commands = os.pipe()
        self.answers, to_write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            isolation.die_with_parent()
            isolation.hide_memory()
            os.close(self.commands)
            os.dup2(2, 1)  # what a reference prints is no part of the report
            with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
                serve(source, to_read, to_write)
            sys.stderr.flush()
            os._exit(0)
        os.close(to_read)
        os.close(to_write)

    def examination(self) -> Examination:
        """Samples and right answers from new secrets. Raises UserError for a reference that has none."""
        self.secret = secrets.token_hex(32)
        return self.asked({"secret": self.secret})

    def draw(self, count: int) -> list[RightAnswer]:
        """So many new draws of get_inputs() for the module of the last examination, and what is right."""
        return self.asked({"secret": secrets.token_hex(32), "draws": count})

    def asked(self, message: dict[str, Any]) -> Any:
        """The answer to a message. Raises UserError."""
        send(self.commands, message)
        try:
            head, blobs = receive(self.answers)
        except ChannelClosed:
            raise UserError("the process of the reference has ended") from None
        if "error" in head:
            raise UserError(head["error"])
        return torch.load(io.BytesIO(blobs[0]), weights_only=False)

    def close(self) -> None:
        """Ends the process."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
