"""Forks Python workers from a process that has imported everything; see run/worker/worker_template.h."""

from __future__ import annotations

import importlib
import json
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from opgate.calls.devices import has_devices, refuses_devices
from opgate.judging.registry import Check


def import_for(checks: Iterable[Check]) -> None:
    """Imports what these checks need, so that each worker has it from its start."""
    for name in {name for check in checks for name in check.imports}:
        try:
            importlib.import_module(name)
        except ImportError:  # where the check cannot do without the module, its verdict says so
            continue


def fork_worker(request: dict[str, Any], descriptors: dict[str, tuple[int, ...]]) -> dict[str, Any] | None:
    """Forks a process, and returns the answer to the supervisor; None in the new process.

    The new process has the files that the request names instead of `descriptors`: "commands",
    "answers" and "log". It has opened them when this function returns, because the supervisor then closes
    its own ends. It becomes a child of the supervisor, because the process between the two ends.
    """
    read, write = os.pipe()
    between = os.fork()
    if between == 0:
        if os.fork() != 0:
            os._exit(0)
        os.setpgid(0, 0)
        try:
            take_files(request, descriptors)
        except OSError as error:
            os.write(write, json.dumps({"cannot_fork": str(error)}).encode())
            os._exit(1)
        told = {"forked": os.getpid(), "refuses_devices": refuses_devices()}
        os.write(write, json.dumps(told).encode())
        os.close(read)
        os.close(write)
        return None
    os.waitpid(between, 0)
    os.close(write)
    with os.fdopen(read) as told:
        said = json.loads(told.read() or '{"cannot_fork": "the new process ended"}')
    if "forked" not in said:
        return said
    if said.pop("refuses_devices") and has_devices():
        os.kill(said["forked"], signal.SIGKILL)
        return {"cannot_fork": "torch uses its devices already"}
    # Locks that another thread held at the fork stay locked in the new process. Libraries that end their
    # threads before a fork, as OpenBLAS does, have done so by now.
    if threads := len(os.listdir("/proc/self/task")) - 1:
        os.kill(said["forked"], signal.SIGKILL)
        return {"cannot_fork": f"{threads} more threads run"}
    return said


def take_files(request: dict[str, Any], descriptors: dict[str, tuple[int, ...]]) -> None:
    """Opens the files of the request, and puts them into the place of the descriptors."""
    flags = {"commands": os.O_RDONLY, "answers": os.O_WRONLY, "log": os.O_WRONLY | os.O_APPEND | os.O_CREAT}
    for name, numbers in descriptors.items():
        opened = os.open(Path(request[name]), flags[name], 0o644)
        for number in numbers:
            os.dup2(opened, number)
        os.close(opened)
