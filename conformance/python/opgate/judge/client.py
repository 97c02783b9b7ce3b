"""`opgate judge --server SOCKET ...`: lets a server judge. Imports nothing that takes long."""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

from opgate.request import UserError, asked, status_of

INTERRUPTED = 130


def main(judge: dict[str, Any]) -> int:
    """Passes the request and the outputs on to the server, and returns the exit status of its run.

    Raises UserError where no server gives a verdict.
    """
    path = judge["server"]
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    start = f"start one with `opgate judge --serve {path}`"
    try:
        server.connect(path)
    except FileNotFoundError:
        raise UserError(f"there is no server at {path}: {start}") from None
    except ConnectionRefusedError:
        raise UserError(f"no server listens at {path} any more: {start}") from None
    except OSError as error:
        raise UserError(f"cannot connect to {path}: {error.strerror or error}") from None
    request = json.dumps({"judge": judge, "folder": os.getcwd()}).encode()
    interrupts = 0
    answer = b""
    try:
        socket.send_fds(server, [request], [0, 1, 2])
    except OSError as error:
        raise UserError(f"the server at {path} takes no request: {error.strerror or error}") from None
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
        raise UserError(f"the server at {path} has ended before it gave a verdict")
    return int(json.loads(answer)["status"])


if __name__ == "__main__":
    sys.exit(status_of(lambda: main(asked())))
