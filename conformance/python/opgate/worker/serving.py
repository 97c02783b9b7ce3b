"""Serves the protocol of run/worker/protocol.h on stdin and descriptor 3, with a Worker.

What needs torch is imported once the process is prepared for it, because torch may be missing.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from opgate.mutation import running
from opgate.request import UserError
from opgate.startup import first_configuration
from opgate.startup.after_import import act_after_imports

if TYPE_CHECKING:
    from opgate.worker.worker import Worker

COMMAND_DESCRIPTOR = 0
LOG_DESCRIPTORS = (1, 2)
ANSWER_DESCRIPTOR = 3


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """No cyclic garbage is looked for meanwhile, and later collections leave out what was made meanwhile.

    Imports make hundreds of thousands of objects that stay: to look at them takes a fifth of the time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def prepare_process(setup: dict[str, Any]) -> None:
    """Imports torch and the engine, and does what must come before the imports of the project."""
    # Many modules ask torch.cuda.is_available() when they are imported. With this variable torch asks
    # NVML and not the driver, after which no forked process could use devices.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    # Each process of Inductor's pool imports torch, which costs more than it saves: there are several
    # workers, and a case has few kernels.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    try:
        import torch  # noqa: F401

        from opgate import _engine
    except ImportError as error:
        raise UserError(f"{sys.executable} cannot import OpGate's engine or torch: {error}") from error
    if setup["simulated"]:
        _engine.enable_simulator()
        act_after_imports(first_configuration.actions())
    running.install()


def serve(commands: TextIO, answers: TextIO) -> int:
    """Answers each line of `commands` with one line on `answers`; returns the exit status."""

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    first = commands.readline()
    if not first:
        return 2
    setup = json.loads(first)["setup"]
    try:
        with without_collections():
            prepare_process(setup)
            from opgate.worker.worker import Worker

            worker = Worker(setup, answer)
        answer({"ready": worker.described()})
        while line := commands.readline():
            said = _answer(json.loads(line), worker)
            if said is not None:
                answer(said)
    except UserError as error:
        answer({"broken": str(error)})
        return 2
    return 0


def _answer(command: dict[str, Any], worker: Worker) -> dict[str, Any] | None:
    """Carries out one command. Raises UserError also where OpGate's own code fails."""
    try:
        return _fork(command["fork"], worker) if "fork" in command else worker.answer(command)
    except UserError:
        raise
    except Exception as error:
        if why := own_failure(error):
            said = f"OpGate itself failed in {worker.name}, at {why}, while it carried out "
            said += f"{json.dumps(command)[:200]}: {type(error).__name__}: {' '.join(str(error).split())}"
            raise UserError(f"{said}; the operator is not to blame: please report it") from error
        raise


def own_failure(error: Exception) -> str:
    """Where OpGate's own code raised it; empty if the operator or torch did, as where memory runs out."""
    from opgate import _engine

    if isinstance(error, MemoryError | RuntimeError) and not isinstance(error, _engine.SetupError):
        return ""
    own = str(Path(__file__).parents[1]) + os.sep
    frames = traceback.extract_tb(error.__traceback__)
    if not all(frame.filename.startswith(own) for frame in frames):
        return ""
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"


def _fork(request: dict[str, Any], worker: Worker) -> dict[str, Any] | None:
    """Forks a worker, and returns the answer; None in the new process, which has commands of its own."""
    from opgate.worker.forking import fork_worker, import_for

    with without_collections():
        import_for(worker.checks[name] for name in request["checks"] if name in worker.checks)
    said = fork_worker(
        request,
        {"commands": (COMMAND_DESCRIPTOR,), "answers": (ANSWER_DESCRIPTOR,), "log": LOG_DESCRIPTORS},
    )
    if said is None:
        worker.begin(request["mutant"])
    return said


def main() -> NoReturn:
    """Serves until stdin ends, and ends the process.

    The interpreter's own shutdown takes torch's modules apart, which costs half a second of each worker's
    time and brings nothing: exit handlers run, files are flushed, and the system frees the memory.
    """
    with os.fdopen(ANSWER_DESCRIPTOR, "w", encoding="utf-8") as answers:
        status = serve(sys.stdin, answers)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
