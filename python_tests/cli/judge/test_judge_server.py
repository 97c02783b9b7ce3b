"""opgate judge --serve: what clients get, and that no client leaves a process behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from conftest import Judge
from harness import OpGate, assert_refused


def reference(source: Path) -> Path:
    return source / "fixtures" / "cheats" / "square" / "reference.py"


def children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def wait_until(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


def test_a_server_gives_the_same_verdict(opgate: OpGate, judge: Judge, source: Path) -> None:
    words = [
        reference(source).with_name("honest_in_place.py"),
        "--reference",
        reference(source),
        "--no-speed",
    ]
    alone, served = opgate("judge", *words), judge(*words)
    assert (served.stdout, served.stderr, served.returncode) == (alone.stdout, alone.stderr, 0)


def hanging_client(judge: Judge, source: Path) -> subprocess.Popen[str]:
    """A client whose candidate hangs, in a process group of its own."""
    words = [judge.opgate.program, "judge", "--server", judge.socket, reference(source).with_name("hangs.py")]
    process = subprocess.Popen(
        [str(word) for word in [*words, "--reference", reference(source)]],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert wait_until(lambda: bool(children(judge.server)))
    time.sleep(1.5)
    assert children(judge.server)
    return process


def test_an_interrupted_client_ends_its_run(judge: Judge, source: Path) -> None:
    client = hanging_client(judge, source)
    os.killpg(client.pid, signal.SIGINT)
    _, errors = client.communicate(timeout=30)
    assert client.returncode == 130
    assert "interrupted" in errors
    assert wait_until(lambda: not children(judge.server))


def test_a_client_that_dies_takes_its_run_along(judge: Judge, source: Path) -> None:
    client = hanging_client(judge, source)
    os.killpg(client.pid, signal.SIGKILL)
    client.communicate(timeout=30)
    assert wait_until(lambda: not children(judge.server))


def test_no_server_and_a_socket_that_is_left(opgate: OpGate, source: Path, tmp_path: Path) -> None:
    words = ["x.py", "--reference", reference(source)]
    assert_refused(opgate("judge", "--server", tmp_path / "none", *words), "there is no server at")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left"))
    assert_refused(opgate("judge", "--server", tmp_path / "left", *words), "no server listens at", "any more")


def test_a_socket_that_is_taken(opgate: OpGate, judge: Judge, tmp_path: Path) -> None:
    assert_refused(opgate("judge", "--serve", judge.socket), "a server answers at", "already")
    (tmp_path / "file").touch()
    assert_refused(opgate("judge", "--serve", tmp_path / "file"), "is there already and is no socket")
    assert_refused(opgate("judge", "--serve", tmp_path / ("x" * 120)), "cannot listen at")


def test_the_device_is_that_of_the_server(judge: Judge, source: Path) -> None:
    words = [reference(source).with_name("honest_view.py"), "--reference", reference(source)]
    assert_refused(judge(*words, "--device", "sim"), "this server runs candidates on cpu")


def test_each_candidate_has_secrets_of_its_own(judge: Judge, source: Path, tmp_path: Path) -> None:
    secrets = []
    candidate = reference(source).with_name("honest_view.py")
    for name in ("one.json", "two.json"):
        words = [candidate, candidate, "--reference", reference(source), "--no-speed", "--receipt", name]
        assert judge(*words, folder=tmp_path).returncode == 0
        receipt = json.loads((tmp_path / name).read_text())
        secrets += [record[kind] for record in receipt["candidates"] for kind in ("secret", "order")]
    assert len(set(secrets)) == 8
