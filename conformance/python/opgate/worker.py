"""The Python worker: serves the protocol of run/protocol.h on stdin and descriptor 3."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

COMMAND_DESCRIPTOR = 0
LOG_DESCRIPTORS = (1, 2)
ANSWER_DESCRIPTOR = 3


class SetupError(Exception):
    """An error that the user must fix; its message is one line."""


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """torch computes with one thread meanwhile: its pool would outlive the imports and forbid forks."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


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


def load_modules(names: list[str]) -> None:
    """Imports the modules that opgate.toml lists. Raises SetupError that names the module and the reason."""
    for name in names:
        try:
            with one_thread():
                importlib.import_module(name)
        except (Exception, SystemExit) as error:  # a user's module may raise anything while it is imported
            message = " ".join(str(error).split())
            raise SetupError(
                f"Python module {name} cannot be imported: {type(error).__name__}: {message}"
            ) from error


def load_libraries(libraries: Iterable[str]) -> dict[str, str]:
    """Loads libraries of operators as native workers do; returns those that cannot be loaded, and why.

    A library may need one that is listed after it, so those that fail are tried again after the others.
    """
    failures = dict.fromkeys(libraries, "")
    before = len(failures) + 1
    while 0 < len(failures) < before:
        before = len(failures)
        failures = {library: why for library in failures if (why := _cannot_load(library))}
    return failures


def _cannot_load(library: str) -> str:
    import torch

    from opgate import _engine

    try:
        why: str = _engine.load_operators(library)
    except RuntimeError as error:
        return str(error)
    if not why:
        # torch writes them into the programs that repeat its own errors.
        torch.ops.loaded_libraries.add(library)
    return why


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
        # Many modules ask torch.cuda.is_available() when they are imported. With this variable torch asks
        # NVML and not the driver, after which no forked process could use devices.
        os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
        # Each process of Inductor's pool imports torch, which costs more than it saves: there are several
        # workers, and a case has few kernels.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        try:
            import torch

            from opgate import _engine
        except ImportError as error:
            raise SetupError(f"{sys.executable} cannot import OpGate's engine or torch: {error}") from error
        if setup["simulated"]:
            _engine.enable_simulator()
        from opgate import onnx_forms
        from opgate.class_spec import CLASSES
        from opgate.functions import register_functions
        from opgate.model import MODELS
        from opgate.module_inputs import ModuleInputs
        from opgate.mutation import running
        from opgate.occupation import Occupation
        from opgate.package import PackageStore
        from opgate.registration import all_operators, defined_in, registered, with_schema
        from opgate.registry import load_checks, prose_of
        from opgate.sources import digest_of, mapped_libraries, module_files, project_files
        from opgate.spec import SPECS
        from opgate.startup import first_configuration
        from opgate.startup.after_import import act_after_imports
        from opgate.startup.triton_parameters import name_parameters

        if setup["simulated"]:
            act_after_imports(first_configuration.actions())
        try:
            running.install()
        except running.WrongModule as error:
            raise SetupError(str(error)) from error
        before = all_operators()
        mapped_before = mapped_libraries()
        waiting = load_libraries(setup["libraries"])
        # A library's package depends on the libraries that it loads, too.
        with_libraries = sorted(mapped_libraries() - mapped_before | set(setup["libraries"]))
        of_libraries = with_schema(all_operators() - before)
        imported_before = set(sys.modules)
        inputs = ModuleInputs(setup["modules"], Path(setup["packages"]).parent)
        load_modules(setup["modules"])
        try:
            running.demand_right_modules()
        except running.WrongModule as error:
            raise SetupError(str(error)) from error
        self.imported_files = project_files(imported_before)
        # They may need what a module has loaded by now.
        if failures := load_libraries(waiting):
            raise SetupError(f"in Python, {next(iter(failures.values()))}")
        if "triton" in sys.modules:
            name_parameters()
        of_modules = all_operators() - before - of_libraries
        try:
            register_functions(setup["recorded"], SPECS)
        except RuntimeError as error:
            raise SetupError(str(error)) from error
        self.checks = load_checks()
        try:
            specs = [spec.as_json() for spec in SPECS.values()]
            specs += [spec.as_json() for spec in CLASSES.values()]
            self.subjects = specs + [model.as_json() for model in MODELS.values()]
            _engine.load(
                setup["specs"],
                json.dumps(self.subjects),
                {name: spec.reference_function for name, spec in SPECS.items() if spec.reference_function},
                {name: spec.scale_function for name, spec in SPECS.items() if spec.scale_function},
                {name: spec.functions() for name, spec in CLASSES.items()},
                setup["regressions"],
                setup["recorded"],
                setup["samples"],
                setup["outputs"],
                setup["namespaces"],
            )
        except RuntimeError as error:
            raise SetupError(str(error)) from error
        inputs.stop()
        self.inputs = {"files": inputs.files(), "variables": inputs.variables()}
        _engine.send_stack_of_crashes()
        self.module_files = module_files(setup["modules"])
        self.operators: list[str] = []
        self.registered: dict[str, dict[str, Any]] = {}
        if any(name.startswith("aten::") for name in _engine.registrations([])):
            import torch._meta_registrations  # noqa: F401  (many of ATen's own fake kernels are written in Python)

            self.registered = registered([])
        if setup["modules"]:  # without modules, Python registers nothing else that the libraries do not
            namespaces = {name.partition("::")[0] for name in [*of_libraries, *SPECS]}
            self.operators = defined_in(self.module_files.values(), of_modules, namespaces)
            self.registered = registered(self.operators)
            _engine.set_without_fake([name for name, found in self.registered.items() if not found["fake"]])
        self.torch_version = torch.__version__.partition("+")[0]
        self.sources = digest_of([*setup["modules"], *onnx_forms.modules(), "opgate"])
        # Samples that are kept in files name operators, too.
        samples = [Path(setup[kind]) for kind in ("recorded", "regressions", "samples") if setup[kind]]
        samples += [file for folder in samples if folder.is_dir() for file in folder.rglob("*.json")]
        prose = [prose_of(check.judge) for check in self.checks.values()]
        self.other_files = [
            *setup["libraries"],
            *setup["specs"],
            _engine.__file__,
            *map(str, samples + prose),
        ]

        self.process = os.getpid()
        self.name = f"the Python worker{' of the simulated device' if setup['simulated'] else ''}"
        self.choose_mutant(setup["mutant"])
        self.printed = _end_of_printed()
        self.occupation = Occupation(lambda text: tell({"doing": text}))
        if "triton" in sys.modules:
            self.occupation.watch_triton()
        self.packages = PackageStore(
            Path(setup["packages"]),
            with_libraries,
            setup["modules"],
            tell=self.occupation.begin,
        )
        # The same limit as in native workers. New processes are allowed, because compilers must be started.
        resource.setrlimit(resource.RLIMIT_DATA, (setup["memory"], setup["memory"]))

    def described(self) -> dict[str, Any]:
        """What the supervisor plans with, and the files on which that depends."""
        from opgate.sources import files_read

        return {
            "checks": [check.as_json() for check in self.checks.values()],
            "models": self.subjects,
            "registered": self.registered,
            "operators": self.operators,
            "torch": self.torch_version,
            "sources": self.sources,
            "modules": self.imported_files | self.module_files,
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
        from opgate.call import Call

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
        from opgate.judging import judge_call
        from opgate.lost_device import end_if_lost
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
    own = str(Path(__file__).parent) + os.sep
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
    from opgate.forking import fork_worker, import_for

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
