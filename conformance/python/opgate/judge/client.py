"""`opgate judge --server SOCKET ...`: lets a server judge. Imports nothing that takes long."""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

from opgate.request import asked

INTERRUPTED = 130


def main(judge: dict[str, Any]) -> int:
    """Passes the request and the outputs on to the server; returns the exit status of its run."""
    path = judge["server"]
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    start = f"start one with `opgate judge --serve {path}`"
    try:
        server.connect(path)
    except FileNotFoundError:
        return refused(f"there is no server at {path}: {start}")
    except ConnectionRefusedError:
        return refused(f"no server listens at {path} any more: {start}")
    except OSError as error:
        return refused(f"cannot connect to {path}: {error.strerror or error}")
    request = json.dumps({"judge": judge, "folder": os.getcwd()}).encode()
    interrupts = 0
    answer = b""
    try:
        socket.send_fds(server, [request], [0, 1, 2])
    except OSError as error:
        return refused(f"the server at {path} takes no request: {error.strerror or error}")
    while True:
        try:
            part = server.recv(4096)
            answer += part
            if not part:
                break
        except KeyboardInterrupt:
            interrupts += 1
            if interrupts > 1:
                return INTERRUPTED
            server.sendall(b"interrupt")
        except ConnectionError:
            break
    if not answer:
        return refused(f"the server at {path} has ended before it gave a verdict")
    return int(json.loads(answer)["status"])


def refused(why: str) -> int:
    """Reports why nothing is judged."""
    print(f"opgate: {why}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(asked()))
