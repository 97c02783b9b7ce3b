"""Fixtures for libraries that several files test the program with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from changes import Runs
from harness import Completed, OpGate
from orders_program import OrdersProgram


@pytest.fixture(scope="session")
def seen_library(build: Path) -> Path:
    """The library fixtures/libraries/seen, whose operators have no spec."""
    return build / "lib" / "libopgate_seen.so"


@pytest.fixture(scope="module")
def runs(opgate: OpGate, new_project: Callable[..., Path]) -> Runs:
    """A project with the library fixtures/changes, and its runs."""
    libraries = ["libopgate_changes.so"]
    project = new_project(libraries=libraries, ledger="ledger", waivers="waivers.toml")
    (project / "waivers.toml").touch()
    return Runs(opgate, project)


@pytest.fixture
def orders(opgate: OpGate, build: Path, tmp_path: Path) -> OrdersProgram:
    """A program whose results depend on the order of blocks and on late stores."""
    return OrdersProgram(opgate, build / "bin" / "opgate_orders", tmp_path)


@dataclass(frozen=True)
class Judge:
    """Runs `opgate judge --server`, which starts no Python for each candidate."""

    opgate: OpGate
    socket: Path
    server: int

    def __call__(self, *words: str | Path, folder: Path | None = None) -> Completed:
        return self.opgate("judge", "--server", self.socket, *words, folder=folder, timeout=120)


@pytest.fixture(scope="session")
def judge(opgate: OpGate) -> Iterator[Judge]:
    """A server of `opgate judge`, which must leave neither a process nor its socket behind."""
    folder = Path(tempfile.mkdtemp())  # the path of a socket has 107 characters at most
    socket = folder / "socket"
    words = [str(opgate.program), "judge", "--serve", str(socket)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=opgate.folder)
    assert process.stderr is not None
    for line in process.stderr:
        if "judging at" in line:
            break
    yield Judge(opgate, socket, process.pid)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    assert not os.path.exists(socket)
    shutil.rmtree(folder)
