"""`opgate judge --serve SOCKET`: starts once, and forks for each client before there is any secret.

A client passes its outputs on, so that it sees what a run without a server prints. See client.py.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opgate.judge.sandbox import isolation
from opgate.request import UserError, status_of

SECONDS_TO_ASK = 5.0
SECONDS_TO_END = 5.0
LONGEST_REQUEST = 1 << 20


@dataclass
class Running:
    """A run for a client: its process, a descriptor of the process, and the connection."""

    process: int
    ending: int
    client: socket.socket


class Server:
    """Listens at a socket that only this user can connect to."""

    def __init__(self, path: Path, device: str) -> None:
        self.path = path
        self.device = device
        self.runs: list[Running] = []
        self.selector = selectors.DefaultSelector()
        self.listener = listening(path)
        self.selector.register(self.listener, selectors.EVENT_READ, None)

    def serve(self) -> None:
        """Answers clients until the process is interrupted."""
        while True:
            for key, _ in self.selector.select():
                if key.data is None:
                    self.accept()
                elif key.data in self.runs:
                    self.look_at(key.data, key.fileobj)

    def accept(self) -> None:
        """Forks for a client; one that asks for nothing is left alone."""
        client, _ = self.listener.accept()
        client.settimeout(SECONDS_TO_ASK)
        descriptors: list[int] = []
        try:
            message, descriptors, _, _ = socket.recv_fds(client, LONGEST_REQUEST, 3)
            request = json.loads(message)
            if len(descriptors) != 3:
                raise ValueError
        except (OSError, ValueError):
            client.close()
        else:
            process = os.fork()
            if process == 0:
                self.become_run(request, descriptors, client)
            running = Running(process, os.pidfd_open(process), client)
            self.runs.append(running)
            self.selector.register(client, selectors.EVENT_READ, running)
            self.selector.register(running.ending, selectors.EVENT_READ, running)
        for descriptor in descriptors:
            os.close(descriptor)

    def become_run(self, request: dict[str, Any], descriptors: list[int], client: socket.socket) -> None:
        """The forked process: runs with the outputs and the working directory of the client."""
        from opgate.judge.run import Request, run

        status = 2
        try:
            os.setsid()
            isolation.die_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self.selector.close()
            self.listener.close()
            client.close()
            for other in self.runs:
                other.client.close()
                os.close(other.ending)
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
                os.close(descriptor)
            os.chdir(request["folder"])
            status = status_of(lambda: run(Request(**request["judge"]), self.device))
            sys.stdout.flush()
        except KeyboardInterrupt:
            status = 130
        except BrokenPipeError:  # the report is not read any more
            status = 1
        except BaseException as error:
            print(f"opgate: {type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)

    def look_at(self, running: Running, changed: object) -> None:
        """The run has ended, or its client is interrupted or gone."""
        if changed is not running.client:
            _, status = os.waitpid(running.process, 0)
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError):
                running.client.sendall(json.dumps({"status": code if code >= 0 else 128 - code}).encode())
            self.forget(running)
            return
        try:
            word = running.client.recv(64)
        except OSError:
            word = b""
        if not word:
            self.selector.unregister(running.client)
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.process, signal.SIGINT)

    def forget(self, running: Running) -> None:
        """Closes what belongs to a run that has ended."""
        for each in (running.client, running.ending):
            with contextlib.suppress(KeyError):
                self.selector.unregister(each)
        running.client.close()
        os.close(running.ending)
        self.runs.remove(running)

    def close(self) -> None:
        """Ends all runs, and removes the socket."""
        self.listener.close()
        self.path.unlink(missing_ok=True)
        for running in self.runs:
            os.kill(running.process, signal.SIGINT)
        for running in list(self.runs):
            with selectors.DefaultSelector() as ending:
                ending.register(running.ending, selectors.EVENT_READ)
                if not ending.select(SECONDS_TO_END):
                    os.kill(running.process, signal.SIGKILL)
            os.waitpid(running.process, 0)
            self.forget(running)


def listening(path: Path) -> socket.socket:
    """A socket at this path. Raises UserError if it is taken; one at which no process listens is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.exists():
            if not stat.S_ISSOCK(path.stat().st_mode):
                raise UserError(f"{path} is there already and is no socket")
            if answers(path):
                raise UserError(f"a server answers at {path} already")
            path.unlink()
        before = os.umask(0o077)  # anyone who can connect can run programs as this user
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        listener.listen()
    except OSError as error:
        raise UserError(f"cannot listen at {path}: {error.strerror or error}") from None
    return listener


def answers(path: Path) -> bool:
    """Whether a process listens at this socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def main(words: list[str]) -> int:
    """Serves until Ctrl-C or SIGTERM. Raises UserError where it cannot listen."""
    path, device = words
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    server = None
    try:
        server = Server(Path(path).resolve(), device)
        from opgate.judge.run import prepare  # after the socket, because torch's import takes seconds

        prepare()
        gc.collect()
        gc.freeze()
        print(f"opgate: judging at {path}; Ctrl-C ends the server", file=sys.stderr, flush=True)
        server.serve()
    except KeyboardInterrupt:
        pass
    finally:
        if server is not None:
            server.close()
    return 0


if __name__ == "__main__":
    sys.exit(status_of(lambda: main(sys.argv[1:])))
