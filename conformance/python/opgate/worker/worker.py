"""The Python worker: serves the protocol of run/worker/protocol.h on stdin and descriptor 3."""

from __future__ import annotations

import atexit
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TextIO

from opgate.worker.setting_up import (
    SetupError,
    import_project,
    load_specs,
    other_files,
    prepare_process,
    registrations,
    version_of_torch,
    without_collections,
)

COMMAND_DESCRIPTOR = 0
LOG_DESCRIPTORS = (1, 2)
ANSWER_DESCRIPTOR = 3


def _end_of_printed() -> int:
    """The end of what this process has printed into its log."""
    from opgate import _engine

    sys.stdout.flush()
    sys.stderr.flush()
    return _engine.end_of_printed()


class Worker:
    """Holds the checks and packages of this process, and answers one command after the other.

    `tell` sends a message that is no answer.
    """

    def __init__(self, setup: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> None:
        prepare_process(setup)
        project = import_project(setup)
        from opgate import _engine
        from opgate.checks import load_checks
        from opgate.modules.sources import digest_of, module_files
        from opgate.packages.package import PackageStore
        from opgate.specs import onnx_forms
        from opgate.worker.occupation import Occupation

        self.checks = load_checks()
        self.subjects = load_specs(setup)
        project.read.stop()
        self.inputs = {"files": project.read.files(), "variables": project.read.variables()}
        _engine.send_stack_of_crashes()
        listed = module_files(setup["modules"])
        self.modules = project.files | listed
        self.operators, self.registered = registrations(project, listed)
        self.torch_version = version_of_torch()
        packages = [*setup["modules"], *onnx_forms.modules(), "opgate"]
        self.sources = digest_of(packages)
        # The digest is of files that nothing has imported, too.
        self.other_files = other_files(setup, self.checks) + list(module_files(packages).values())

        self.process = os.getpid()
        self.name = f"the Python worker{' of the simulated device' if setup['simulated'] else ''}"
        self.choose_mutant(setup["mutant"])
        self.printed = _end_of_printed()
        self.occupation = Occupation(lambda text: tell({"doing": text}))
        if "triton" in sys.modules:
            self.occupation.watch_triton()
        self.packages = PackageStore(
            Path(setup["packages"]), project.libraries, setup["modules"], tell=self.occupation.begin
        )
        # The same limit as in native workers. New processes are allowed, because compilers must be started.
        resource.setrlimit(resource.RLIMIT_DATA, (setup["memory"], setup["memory"]))

    def described(self) -> dict[str, Any]:
        """What the supervisor plans with, and the files on which that depends."""
        from opgate.modules.sources import files_read

        return {
            "checks": [check.as_json() for check in self.checks.values()],
            "models": self.subjects,
            "registered": self.registered,
            "operators": self.operators,
            "torch": self.torch_version,
            "sources": self.sources,
            "modules": self.modules,
            "inputs": self.inputs,
            "files": files_read(self.other_files + self.inputs["files"] + self._where_packages_may_come()),
        }

    def _where_packages_may_come(self) -> list[str]:
        """The folders whose change may end that a check lacks a package."""
        lacking = any(check.missing() for check in self.checks.values())
        return [folder for folder in sys.path if Path(folder).is_dir()] if lacking else []

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Carries out one command, and returns the answer."""
        handlers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "run": self._run,
            "package": self._package,
            "run_package": self._run_package,
        }
        answer = next(handler for name, handler in handlers.items() if name in command)(command)
        if os.getpid() != self.process:  # a child that an operator forked has returned from the operator
            os._exit(0)
        return answer

    def choose_mutant(self, number: int) -> None:
        """From now on, this mutant of libraries and modules runs; see process/mutants.h."""
        from opgate import _engine
        from opgate.mutation import running

        self.reports_mutants = number < 0
        if number != 0:
            _engine.choose_mutant(number)
        running.choose(number)

    def begin(self, mutant: int) -> None:
        """In a process that was forked: from now on, this process is the worker, and runs this mutant."""
        import torch

        # Where the process before the fork had called set_num_threads, torch replaces its thread pool at the
        # next such call, and aborts if several threads make it at a time, as those of backward may.
        torch.set_num_threads(torch.get_num_threads())
        self.process = os.getpid()
        self.occupation.belongs_here()
        self.choose_mutant(mutant)
        self.printed = _end_of_printed()

    def _call(self, call_id: str) -> Any:
        """The call of a plan. Raises SetupError where this process has other specs than the plan's."""
        from opgate.calls.call import Call

        call = Call(call_id, self.packages)
        try:
            _ = call.described
        except RuntimeError as error:
            raise SetupError(
                f"{self.name} has other specs than this run was planned with: {error}. A spec depends on "
                "something that changes or differs between processes, such as an environment variable, a "
                "file or the time; run again"
            ) from error
        return call

    def _run(self, command: dict[str, Any]) -> dict[str, Any]:
        from opgate import _engine
        from opgate.calls.devices import end_if_lost
        from opgate.judging.judge_call import judge_call
        from opgate.mutation import running

        call = self._call(command["run"])
        judgements, facts = judge_call(call, command["checks"], self.checks, self.occupation.begin)
        end_if_lost(call.place)
        answer = {"ran": call.id, "judgements": judgements} | facts
        if self.reports_mutants:
            answer["reached"] = _engine.reached_mutants() + running.take_reached()
        if why := running.refused():
            answer["refused"] = why
        if (printed := _end_of_printed()) != self.printed:
            self.printed = answer["printed"] = printed
        return answer

    def _package(self, command: dict[str, Any]) -> dict[str, Any]:
        request = command["package"]
        self.packages.make(request["device"], request["calls"], request["ended"], request["seconds"])
        return {"packaged": request["device"]}

    def _run_package(self, command: dict[str, Any]) -> dict[str, Any]:
        device = command["run_package"]["device"]
        self.packages.run(device)
        return {"packaged": device}


def serve(commands: TextIO, answers: TextIO) -> int:
    """Answers each line of `commands` with one line on `answers`; returns the exit status."""

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    setup = commands.readline()
    if not setup:
        return 2
    try:
        with without_collections():
            worker = Worker(json.loads(setup)["setup"], answer)
    except SetupError as error:
        answer({"broken": str(error)})
        return 2
    answer({"ready": worker.described()})
    while line := commands.readline():
        command = json.loads(line)
        try:
            said = _fork(command["fork"], worker) if "fork" in command else worker.answer(command)
        except SetupError as error:
            answer({"broken": str(error)})
            return 2
        except Exception as error:
            if not is_of_opgate(error):
                raise
            answer({"broken": _own_failure(worker, command, error)})
            return 2
        if said is not None:
            answer(said)
    return 0


def is_of_opgate(error: Exception) -> bool:
    """Whether OpGate's own code raised it, and neither the operator nor torch, as where memory runs out."""
    from opgate import _engine

    if isinstance(error, MemoryError | RuntimeError) and not isinstance(error, _engine.SetupError):
        return False
    own = str(Path(__file__).parents[1]) + os.sep
    return all(frame.filename.startswith(own) for frame in traceback.extract_tb(error.__traceback__))


def _own_failure(worker: Worker, command: dict[str, Any], error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    said = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return (
        f"OpGate itself failed in {worker.name}, at {Path(frame.filename).name}:{frame.lineno}, while it "
        f"carried out {json.dumps(command)[:200]}: {said}; the operator is not to blame: please report it"
    )


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
