"""The Python worker once its process is prepared: holds checks and packages, and answers commands."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.calls.call import Call
from opgate.calls.devices import end_if_lost
from opgate.checks import load_checks
from opgate.judging.judge_call import judge_call
from opgate.modules.sources import digest_of, files_read, module_files, python_files
from opgate.mutation import running
from opgate.packages.package import PackageStore
from opgate.request import UserError
from opgate.specs import onnx_forms
from opgate.worker.occupation import Occupation
from opgate.worker.setting_up import import_project, load_specs, other_files, registrations


def _end_of_printed() -> int:
    """The end of what this process has printed into its log."""
    sys.stdout.flush()
    sys.stderr.flush()
    return _engine.end_of_printed()


class Worker:
    """Holds the checks and packages of this process, and answers one command after the other.

    `tell` sends a message that is no answer.
    """

    def __init__(self, setup: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> None:
        project = import_project(setup)
        self.checks = load_checks()
        self.subjects = load_specs(setup)
        project.read.stop()
        self.inputs = {"files": project.read.files(), "variables": project.read.variables()}
        _engine.send_stack_of_crashes()
        listed = module_files(setup["modules"])
        self.modules = project.files | listed
        self.operators, self.registered = registrations(project, listed)
        self.torch_version = torch.__version__.partition("+")[0]
        sources = python_files([*setup["modules"], *onnx_forms.modules(), "opgate"])
        self.sources = digest_of(sources)
        # The digest is of files that nothing has imported, too.
        self.other_files = [*other_files(setup, self.checks), *map(str, sources.values())]

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
        if "run" in command:
            answer = self._run(command)
        elif "package" in command:
            answer = self._package(command["package"])
        else:
            answer = self._run_package(command["run_package"])
        if os.getpid() != self.process:  # a child that an operator forked has returned from the operator
            os._exit(0)
        return answer

    def choose_mutant(self, number: int) -> None:
        """From now on, this mutant of libraries and modules runs; see process/mutants.h."""
        self.reports_mutants = number < 0
        if number != 0:
            _engine.choose_mutant(number)
        running.choose(number)

    def begin(self, mutant: int) -> None:
        """In a process that was forked: from now on, this process is the worker, and runs this mutant."""
        # Where the process before the fork had called set_num_threads, torch replaces its thread pool at the
        # next such call, and aborts if several threads make it at a time, as those of backward may.
        torch.set_num_threads(torch.get_num_threads())
        self.process = os.getpid()
        self.occupation.belongs_here()
        self.choose_mutant(mutant)
        self.printed = _end_of_printed()

    def _call(self, call_id: str) -> Call:
        """The call of a plan. Raises UserError where this process has other specs than the plan's."""
        call = Call(call_id, self.packages)
        try:
            _ = call.described
        except RuntimeError as error:
            raise UserError(
                f"{self.name} has other specs than this run was planned with: {error}. A spec depends on "
                "something that changes or differs between processes, such as an environment variable, a "
                "file or the time; run again"
            ) from error
        return call

    def _run(self, command: dict[str, Any]) -> dict[str, Any]:
        call = self._call(command["run"])
        judgements, facts = judge_call(call, command["checks"], self.checks, self.occupation.begin)
        end_if_lost(call.place)
        answer = {"ran": call.id, "judgements": judgements} | facts
        if self.reports_mutants:
            answer["reached"] = _engine.reached_mutants() + running.take_reached()
        if why := running.STATE.refused:
            answer["refused"] = why
        if (printed := _end_of_printed()) != self.printed:
            self.printed = answer["printed"] = printed
        return answer

    def _package(self, request: dict[str, Any]) -> dict[str, Any]:
        self.packages.make(request["device"], request["calls"], request["ended"], request["seconds"])
        return {"packaged": request["device"]}

    def _run_package(self, request: dict[str, Any]) -> dict[str, Any]:
        self.packages.run(request["device"])
        return {"packaged": request["device"]}
