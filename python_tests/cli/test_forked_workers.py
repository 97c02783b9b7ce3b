"""Python workers are forked from one process that has imported everything, where that is safe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, Results, read_results

SPEC = """
import os
import threading
import time

import opgate
import torch

print("imported", os.getpid(), file=open(os.environ["SEEN"], "a"))
if os.environ.get("THREAD"):
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
if os.environ.get("COMPUTE"):  # what starts the threads of torch, of its BLAS and of numpy's
    import numpy

    table = torch.rand(600, 600)
    (table @ table).exp().sum().item()
    torch.rand(1 << 21).sort()
    numpy.linalg.inv(numpy.random.rand(600, 600) @ numpy.random.rand(600, 600))
    weight = torch.rand(1 << 20, requires_grad=True)
    (weight * weight).sum().backward()
print("threads", torch.get_num_threads(), file=open(os.environ["SEEN"] + ".threads", "w"))


def define(name, kernel):
    op = torch.library.custom_op(f"forked::{name}", kernel, mutates_args=())
    op.register_fake(torch.empty_like)

    @opgate.spec(f"forked::{name}")
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").draft()
        for size in (3, 4, 5):
            spec.sample(opgate.uniform(size))


def dies(x: torch.Tensor) -> torch.Tensor:
    if x.numel() == 5:
        os.abort()
    return x * 2


def fine(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def hangs(x: torch.Tensor) -> torch.Tensor:
    if x.numel() == 4:
        os.spawnlp(os.P_WAIT, "sleep", "sleep", "7351")  # it must end with the worker
    return x * 2


define("dies", dies)
define("fine", fine)
define("hangs", hangs)
"""


@pytest.fixture
def run(opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path) -> Callable[..., Results]:
    folder = new_project(python=["forked_specs"], python_path=["."])
    (folder / "forked_specs.py").write_text(SPEC)

    def call(*words: str, **more: str) -> Results:
        environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "SEEN": str(tmp_path / "seen")}
        opgate("run", "--device", "cpu", *words, folder=folder, environment=environment | more)
        return read_results(folder / ".opgate")

    return call


def verdicts(results: Results, op: str) -> dict[str, str]:
    return {case.partition("/")[2]: line["verdict"] for case, line in results.of(op).items()}


def imports(tmp_path: Path) -> int:
    return len((tmp_path / "seen").read_text().splitlines())


def test_crashes_cost_no_import_and_leave_the_verdicts_of_others(
    run: Callable[..., Results], tmp_path: Path
) -> None:
    # With all layouts there are more deaths than are tried; which cases are owed then depends on the load.
    results = run("--op", "dies", "fine", "--check", "opcheck", "effect.alias", "-k", "contiguous")
    found = verdicts(results, "dies")
    assert found.pop("float32/5/contiguous/cpu/opcheck") == "crash"
    assert found.pop("float32/5/contiguous/cpu/effect.alias") == "crash"
    assert {verdict for case, verdict in found.items() if "/5/" not in case} == {"pass"}
    assert set(verdicts(results, "fine").values()) == {"pass"}
    assert imports(tmp_path) == 1


@pytest.mark.long
def test_where_a_module_starts_a_thread_workers_import_for_themselves(
    run: Callable[..., Results], tmp_path: Path
) -> None:
    words = ["--jobs", "1", "--op", "dies", "fine", "--check", "fake.symbolic"]
    forked = run(*words)
    assert imports(tmp_path) == 1
    alone = run(*words, THREAD="1")
    assert imports(tmp_path) > 3, (
        "the process that cannot fork, a worker, and at least one more after a crash"
    )
    for op in ("dies", "fine"):
        assert verdicts(alone, op) == verdicts(forked, op)


def test_a_module_that_computes_while_it_is_imported_starts_no_threads(
    run: Callable[..., Results], tmp_path: Path
) -> None:
    results = run("--op", "dies", "fine", "--check", "opcheck", "value.layout", COMPUTE="1")
    assert verdicts(results, "dies")["float32/5/contiguous/cpu/opcheck"] == "crash"
    assert set(verdicts(results, "fine").values()) == {"pass"}
    assert imports(tmp_path) == 1


def processes_of(command: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (NotADirectoryError, FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if command.encode() in words:
            found.append(int(entry.name))
    return found


@pytest.mark.long
def test_a_worker_that_hangs_ends_with_all_its_processes(run: Callable[..., Results], tmp_path: Path) -> None:
    results = run("--case", "hangs/*/4/contiguous/*/effect.alias", "--python-time-limit", "5")
    assert set(verdicts(results, "hangs").values()) == {"timeout"}
    assert imports(tmp_path) == 1
    deadline = time.monotonic() + 60
    while (left := processes_of("7351")) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert not left


FORK = """
import os
import subprocess
import sys

from opgate.worker.forking import fork_worker

for name in ("commands", "answers"):
    open(name, "w").close()
os.mkfifo("log")  # whoever opens it to write waits for its reader
reader = subprocess.Popen(["sh", "-c", "sleep 0.5; touch opened; exec cat log"], stdout=subprocess.DEVNULL)
request = {name: name for name in ("commands", "answers", "log")}
said = fork_worker(request, {"commands": (0,), "answers": (3,), "log": (1, 2)})
if said is None:
    os._exit(0)
assert os.path.exists("opened"), "the answer came before the worker had its files"
assert said.keys() == {"forked"}, said
reader.wait()
said = fork_worker(request | {"commands": "absent"}, {"commands": (0,), "answers": (3,), "log": (1, 2)})
if said is None:
    os._exit(0)
assert "No such file" in said["cannot_fork"], said
"""


def test_a_worker_has_its_files_before_the_supervisor_closes_them(tmp_path: Path) -> None:
    script = subprocess.run([sys.executable, "-c", FORK], cwd=tmp_path, capture_output=True, text=True)
    assert (script.returncode, script.stderr) == (0, "")
