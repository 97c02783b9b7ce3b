"""The process that starts candidates: a fork of the judge from before there was any secret.

Each candidate gets a process that leads a session and stays outside, the first process of a namespace, which
takes all others along when it ends, and the candidate's own process.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from opgate.judge.sandbox import isolation

KEPT_VARIABLES = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LANG", "LC_ALL", "CC", "CXX")
KEPT_PREFIXES = ("CUDA_", "OMP_", "OPGATE_SIM", "PYTORCH_", "TORCH", "TRITON_")

Body = Callable[[str, int, int], None]
"""What a candidate's process does with what it is given: which candidate, commands, and answers."""


@dataclass(frozen=True)
class Limits:
    """What a candidate may use."""

    memory: int | None  # in bytes; the simulated device maps more than it uses
    seconds: int


class Spawner:
    """The judge's side: starts one candidate at a time."""

    def __init__(self, body: Body, limits: Limits) -> None:
        self.here, there = socket.socketpair()
        self.process = os.fork()
        if self.process == 0:
            self.here.close()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                spawn_candidates(there, body, limits)
            finally:
                os._exit(0)
        there.close()

    def start(self, which: str, commands: int, answers: int, log: int) -> tuple[int, list[str]]:
        """Starts a candidate with these descriptors; returns the process to kill, and what is isolated."""
        socket.send_fds(self.here, [which.encode()], [commands, answers, log])
        begun = json.loads(self.here.recv(1 << 16))
        return begun["process"], begun["isolated"]

    def ended(self) -> int:
        """Waits until all processes of the candidate have ended; returns the exit status or -signal."""
        return int(json.loads(self.here.recv(1 << 16))["status"])

    def has_news(self, seconds: float) -> bool:
        """Whether the end of the candidate is reported within so many seconds."""
        return bool(select.select([self.here], [], [], seconds)[0])

    def close(self) -> None:
        """Ends the spawner."""
        self.here.shutdown(socket.SHUT_RDWR)  # later forks have copies of the descriptor
        self.here.close()
        os.waitpid(self.process, 0)


def spawn_candidates(judge: socket.socket, body: Body, limits: Limits) -> None:
    """Starts candidates until the judge closes the socket."""
    isolation.die_with_parent()
    while True:
        message, descriptors, _, _ = socket.recv_fds(judge, 1 << 16, 3)
        if not message:
            return
        scratch = Path(tempfile.mkdtemp(prefix="opgate-judge-"))
        reading, writing = os.pipe()
        leader = os.fork()
        if leader == 0:
            judge.close()
            os.close(reading)
            lead(message.decode(), descriptors, writing, scratch, body, limits)
        for descriptor in (writing, *descriptors):
            os.close(descriptor)
        with os.fdopen(reading) as pipe:
            isolated = json.loads(pipe.readline() or "[]")
            with contextlib.suppress(BrokenPipeError):
                judge.send(json.dumps({"process": leader, "isolated": isolated}).encode())
        wait_unless_closed(judge, leader)
        _, status = os.waitpid(leader, 0)
        kill_group(leader)
        shutil.rmtree(scratch, ignore_errors=True)
        with contextlib.suppress(BrokenPipeError):
            judge.send(json.dumps({"status": os.waitstatus_to_exitcode(status)}).encode())


def wait_unless_closed(judge: socket.socket, leader: int) -> None:
    """Waits until the leader ends. Kills it if the judge closes the socket before that.

    A judge that is interrupted while a candidate starts does not know which process to kill.
    """
    ended = os.pidfd_open(leader)
    try:
        ready, _, _ = select.select([ended, judge], [], [])
        if judge in ready and ended not in ready and not judge.recv(1, socket.MSG_PEEK):
            os.kill(leader, signal.SIGKILL)
            kill_group(leader)
    finally:
        os.close(ended)


def kill_group(leader: int) -> None:
    """Kills what a session has left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def lead(which: str, descriptors: list[int], report: int, scratch: Path, body: Body, limits: Limits) -> None:
    """Isolates the candidate and waits for it; ends as it ends."""
    isolation.die_with_parent()
    os.setsid()
    namespaces = isolation.enter_namespaces()
    first = os.fork()
    if first == 0:
        isolation.die_with_parent()
        files = isolation.close_files(scratch) if namespaces else []
        candidate = os.fork()
        if candidate == 0:
            become_candidate(which, descriptors, report, scratch, body, limits, [*namespaces, *files])
        os.close(report)
        end_with(candidate)
    os.close(report)
    end_with(first)


def end_with(child: int) -> None:
    """Ends this process as the child ends: 128 + the number stands for a signal, as in shells.

    Meanwhile it takes other children that have lost their parent.
    """
    while True:
        process, status = os.wait()
        if process == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def become_candidate(
    which: str,
    descriptors: list[int],
    report: int,
    scratch: Path,
    body: Body,
    limits: Limits,
    isolated: list[str],
) -> None:
    """The candidate's own process: closes all that is not its own, and runs the body."""
    commands, answers, log = descriptors
    isolated += isolation.drop_capabilities()
    isolated += isolation.limit(limits.memory, limits.seconds, own_processes="processes" in isolated)
    os.write(report, json.dumps(isolated).encode() + b"\n")
    empty = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((empty, 0), (log, 1), (log, 2)):
        os.dup2(old, new)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in (commands, answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
    keep_environment(scratch)
    os.chdir(scratch)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.freeze()
    try:
        body(which, commands, answers)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def keep_environment(scratch: Path) -> None:
    """Only variables that programs need; the home and the folders of caches are empty."""
    values = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT_VARIABLES or (name.startswith(KEPT_PREFIXES) and "CACHE_DIR" not in name)
    }
    tempfile.tempdir = None  # which the judge's process may have found already
    os.environ.clear()
    os.environ.update(values, HOME=str(scratch), TMPDIR=str(scratch), XDG_CACHE_HOME=str(scratch / "cache"))
