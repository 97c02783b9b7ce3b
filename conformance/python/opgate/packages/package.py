"""AOTInductor packages: one for all calls of a device, named by a digest of what it was made from."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.calls.call import Call, OtherValues, first_line, flat_tensors
from opgate.calls.devices import end_if_lost, take_failure, wait_for
from opgate.modules.sources import digest_of, python_files
from opgate.packages.cpp_compiler import compiler, missing_compiler
from opgate.packages.fake_results import disagreement

MANIFEST_FORMAT = 1
WRAPPER_LEVEL = "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL"  # torch's variable, which users may have set
# Words of errors that another run may not have, although nothing that the digest covers has changed.
PASSING = ("no space left", "cannot allocate memory", "out of memory", "killed", "timed out")
ROOMS = ("calls", "functions", "modules", "packages", "specs")  # what a package depends on in OpGate itself
DEATHS = 2  # once this many calls of a subject have ended the worker, its other calls are not tried
Outputs = dict[str, list[torch.Tensor]]
OpenSizes = dict[int, Any] | None


def open_sizes(tensor: torch.Tensor) -> OpenSizes:
    """The dynamic shapes for torch.export: every size above 1 is AUTO. Sizes 0 and 1 stay fixed."""
    return {dim: torch.export.Dim.AUTO for dim, size in enumerate(tensor.shape) if size > 1} or None


class AllCalls(torch.nn.Module):
    """Makes every call, each with its own tensors, and returns all their results as one flat list."""

    def __init__(self, modules: list[torch.nn.Module], tensor_counts: list[int]) -> None:
        super().__init__()
        self.calls = torch.nn.ModuleList(modules)
        self.tensor_counts = tensor_counts

    def forward(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        """Takes the tensors of all calls in order."""
        parts = parted(tensors, self.tensor_counts)
        return flat_tensors([module(*part) for module, part in zip(self.calls, parts, strict=True)])


def parted(tensors: Sequence[torch.Tensor], counts: list[int]) -> list[Sequence[torch.Tensor]]:
    """The tensors in parts of so many."""
    ends = list(accumulate(counts))
    return [tensors[end - count : end] for end, count in zip(ends, counts, strict=True)]


def export(
    module: torch.nn.Module, tensors: list[torch.Tensor], dynamic: list[OpenSizes] | None = None
) -> torch.export.ExportedProgram:
    """Exports without tracing bytecode: TorchBind objects and operators stay as they are in the graph."""
    with torch.no_grad():
        return torch.export.export(
            module, tuple(tensors), strict=False, dynamic_shapes=dynamic and (tuple(dynamic),)
        )


def needs_python(program: torch.export.ExportedProgram) -> bool:
    """Whether an operator in the program has its kernel in Python, so that no C++ program can run it."""
    kernels = (*_engine.device_types().values(), "CompositeExplicitAutograd", "CompositeImplicitAutograd")
    names = {
        node.target.name().partition(".")[0].replace("::", "/")
        for node in program.graph.nodes
        if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace not in ("aten", "prims")
    }
    return any(f"{name}/{kernel}" in torch.library._impls for name in names for kernel in kernels)


def manifest(calls: list[Call]) -> dict[str, Any]:
    """The manifest of the package, which `opgate aoti` and native workers read; see packages/package.h."""
    described = []
    schemas = {}
    for call in calls:
        eager = call.eager()
        described.append(
            {
                "id": call.id,
                **call.described,
                "sample": _engine.sample(call.id),
                "outputs": len(eager),
                "eager": _engine.digest(eager),
                "in_pieces": call.is_compiled_in_pieces,
            }
        )
        if call.is_model and call.is_compiled_in_pieces:
            described[-1]["eager_results"] = _engine.results_as_text(eager)  # C++ cannot compute them
        if not call.is_model:
            schemas[call.subject] = _engine.schema(call.subject)
    return {
        "format": MANIFEST_FORMAT,
        "device": calls[0].device,
        "torch": torch.__version__.partition("+")[0],
        "schemas": schemas,
        "calls": described,
    }


def export_together(calls: list[Call]) -> torch.export.ExportedProgram:
    """Exports the calls, all of one device, as one program. Raises what torch.export raises."""
    module = AllCalls([call.module() for call in calls], [len(call.tensors()) for call in calls])
    resized = of_any_size(calls)
    dynamic = [
        open_sizes(tensor) if call.id in resized else None for call in calls for tensor in call.tensors()
    ]
    return export(module, [tensor for call in calls for tensor in call.tensors()], dynamic)


def can_be_exported(calls: list[Call]) -> bool:
    """Whether export_together() takes the calls."""
    try:
        export_together(calls)
    except Exception:  # torch.export raises whatever a fake kernel raises
        return False
    return True


def compile_package(program: torch.export.ExportedProgram, calls: list[Call], file: Path) -> None:
    """Compiles the program of the calls into `file`. Raises what AOTInductor raises."""
    options = {
        "aot_inductor.metadata": {"opgate": json.dumps(manifest(calls))},
        # The wrapper makes each call once, and compiling it takes a third of the time. Kernels keep their
        # level.
        "aot_inductor.compile_wrapper_opt_level": os.environ.get(WRAPPER_LEVEL, "O0"),
    }
    part = file.with_suffix(".part.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path=str(part), inductor_configs=options)
    part.rename(file)


def snapshot(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same sizes, strides and storage offset in a storage of its own."""
    storage = tensor.untyped_storage().clone()
    return tensor.new_empty(0).set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())


def of_any_size(calls: list[Call]) -> set[str]:
    """Ids of the calls with dynamic sizes in the package: the first dense one of each subject and dtype."""
    first: dict[tuple[str, str], str] = {}
    for call in calls:
        if call.described["variant"] == "contiguous":
            first.setdefault((call.subject, call.described["dtype"]), call.id)
    return set(first.values())


def run_package(
    file: Path, calls: list[Call], instead: dict[str, list[torch.Tensor]] | None = None
) -> Outputs:
    """Runs the package on regenerated inputs, and returns the outputs of each call. Raises RuntimeError.

    `instead` has other inputs for some calls, by the id of the call.
    """
    runner = torch._inductor.aoti_load_package(str(file))
    inputs = [(instead or {}).get(call.id) or call.tensors() for call in calls]
    counts = [described["outputs"] for described in json.loads(runner.get_metadata()["opgate"])["calls"]]
    results = flat_tensors(runner(*[tensor for tensors in inputs for tensor in tensors]))
    flat = [snapshot(result) for result in results]  # a later eager call may overwrite what an operator keeps
    return {call.id: list(part) for call, part in zip(calls, parted(flat, counts), strict=True)}


def sha1(content: bytes) -> str:
    """The SHA-1 digest by which a package is identified."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def compiler_as_text() -> str:
    """The C++ compiler that AOTInductor uses, as text that changes with it."""
    found = compiler()
    return f"{found} {os.stat(found).st_mtime_ns}" if found else f"no {os.environ.get('CXX')}"


@dataclass(frozen=True)
class Problem:
    """Why a package of some calls could not be made, or does not run."""

    told: str
    exported: bool  # whether the calls could be exported together


class PackageStore:
    """The packages of one output folder. DEVICE.json lists those in use; see packages/package_folder.h."""

    def __init__(
        self,
        folder: Path,
        libraries: list[str],
        modules: list[str],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._tell = tell
        self.libraries = [Path(library) for library in libraries]
        self.modules = modules
        self._outputs: dict[str, Outputs | Exception] = {}
        self._ended: dict[str, str] = {}

    @cached_property
    def _sources(self) -> str:
        """A digest of everything that a package depends on, except the calls."""
        own = [file for room in ROOMS for file in (Path(__file__).parents[1] / room).glob("*.py")]
        files = sorted([*self.libraries, *own])
        # A model may use any file of its Python package, so the digest covers the whole package.
        told = torch.__version__ + digest_of(python_files(self.modules)) + compiler_as_text()
        return sha1(told.encode() + b"".join(file.read_bytes() for file in files))

    def _file(self, calls: list[Call]) -> Path:
        """The file of the package of these calls, which need not exist yet."""
        content = json.dumps([self._sources, [[call.id, call.described] for call in calls]], sort_keys=True)
        return self.folder / f"{calls[0].place}-{sha1(content.encode())[:16]}.pt2"

    def make(self, device: str, call_ids: list[str], ended: dict[str, str], seconds: int) -> None:
        """Makes the packages of these calls, or reuses those of an earlier run, and writes DEVICE.json.

        `ended` has the calls (by id) and packages (by file name) that ended a worker before, and how. A call
        that takes longer than `seconds` to run and export ends this process.

        Makes one package for all calls that C++ can run, and one for the calls that need Python. Where a
        package cannot be exported, the subjects that cannot are taken out. Where it cannot be compiled or
        does not run, each half of its subjects gets a package of its own, and so on, so that one defective
        operator does not affect the results of others.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._ended = ended
        calls = [Call(call_id, self) for call_id in call_ids]
        not_tried = self._hopeless(calls)
        calls = [call for call in calls if call.id not in ended and call.id not in not_tried]
        state = self._state_of(calls, seconds) if calls else {"packages": [], "left_out": {}, "not_tried": {}}
        state["left_out"] |= {call_id: ended[call_id] for call_id in call_ids if call_id in ended}
        state["not_tried"] |= not_tried
        (self.folder / f"{device}.json").write_text(json.dumps(state))
        (self.folder / f"{device}.python.json").unlink(missing_ok=True)
        self._outputs.clear()

    def _state_of(self, calls: list[Call], seconds: int) -> dict[str, Any]:
        """The packages of these calls, made where they do not exist yet, and the calls that have none."""
        kept = self._file(calls).with_suffix(".json")
        if (state := self._unaltered(kept)) is not None:
            state["left_out"] = {
                call_id: f"{reason} (as in an earlier run of the same files; delete {kept} to try again)"
                for call_id, reason in state["left_out"].items()
            }
            return state
        native, in_python, left_out, not_tried = self._sorted_out(calls, seconds)
        packages = self._packages(native, left_out)
        packages += [package | {"needs_python": True} for package in self._packages(in_python, left_out)]
        state = {"packages": packages, "left_out": left_out, "not_tried": not_tried}
        # The digest does not cover all causes of failures. Those that may pass are tried again next time.
        reasons = " ".join(left_out.values()).lower()
        may_pass = any(words in reasons for words in PASSING)
        if not may_pass and not self._ended:
            part = kept.with_suffix(".part.json")
            part.write_text(json.dumps(state))
            part.rename(kept)
        return state

    def _sorted_out(
        self, calls: list[Call], seconds: int
    ) -> tuple[list[Call], list[Call], dict[str, str], dict[str, str]]:
        """The calls that C++ can run, and those that need Python.

        Then, by id, why others cannot be exported, and why others are not tried.
        """
        native, in_python, left_out, not_tried = [], [], {}, {}
        for number, call in enumerate(calls, start=1):
            self._tell(f"exporting call {number} of {len(calls)}: {call.id}")
            with self._at(call.place, "the call cannot be exported", [call.id]):
                signal.alarm(seconds)
                take_failure(call.place)
                raised: Exception | None = None
                try:
                    results = call.eager()  # a call that fails in eager must not be packaged with the others
                    wait_for(call.device)
                    program = export(call.module(), call.tensors())
                except Exception as error:  # torch.export raises whatever a fake kernel raises
                    raised = error
                finally:
                    signal.alarm(0)
                end_if_lost(call.place)
            # Not all that fails on the device raises: the host may have read the device's memory.
            failure = take_failure(call.place)
            if isinstance(raised, OtherValues) and not failure:
                not_tried[call.id] = str(raised)
                continue
            if failure or raised:
                left_out[call.id] = f"the call cannot be exported: {failure or first_line(raised)}"
                continue
            # A package asserts the sizes and strides of fakes, and refuses all of its calls if one differs.
            if not call.is_model and (wrong := disagreement(program, call.overload, results)):
                left_out[call.id] = f"the call cannot be packaged: the fake kernel returns {wrong}"
                continue
            (in_python if needs_python(program) else native).append(call)
        return native, in_python, left_out, not_tried

    def _hopeless(self, calls: list[Call]) -> dict[str, str]:
        """The calls that are not tried, and why, by id: all of them where nothing can be compiled.

        Otherwise an argument is of a kind that no package takes, or their subjects have calls that end the
        process repeatedly, and each of these costs the start of a worker.
        """
        if missing := missing_compiler():
            return dict.fromkeys((call.id for call in calls), missing)
        deaths = Counter(call.subject for call in calls if call.id in self._ended)
        of_complex_numbers = {
            call.id: "AOTInductor takes no complex numbers as arguments"
            for call in calls
            if not call.is_model and any(isinstance(value, complex) for value in call.arguments())
        }
        return of_complex_numbers | {
            call.id: f"the call was not exported: {deaths[call.subject]} others of {call.subject} "
            "ended the worker that did it"
            for call in calls
            if call.id not in self._ended and deaths[call.subject] >= DEATHS
        }

    @contextmanager
    def _at(self, device: str, failed: str, culprits: list[str]) -> Iterator[None]:
        """Writes what this process works on into DEVICE.at.json, for the supervisor if the process ends."""
        file = self.folder / f"{device}.at.json"
        file.write_text(json.dumps({"failed": failed, "culprits": culprits}))
        yield
        file.unlink()

    def _unaltered(self, kept_state: Path) -> dict[str, Any] | None:
        """The state that was kept, if each of its packages is still the same file; otherwise None."""
        if not kept_state.exists():
            return None
        state = json.loads(kept_state.read_text())
        for package in state["packages"]:
            file = self.folder / package["file"]
            if not file.exists() or sha1(file.read_bytes()) != package["sha1"]:
                return None
        return state

    def _packages(self, calls: list[Call], left_out: dict[str, str]) -> list[dict[str, Any]]:
        """Compiles packages of `calls`; adds the calls that cannot be compiled to `left_out`."""
        if not calls:
            return []
        problem = self._problem(calls)
        by_subject = [list(group) for _, group in groupby(calls, key=lambda call: call.subject)]
        if problem is not None and len(by_subject) > 1:
            parts = self._parts(by_subject, problem)
            return [package for part in parts for package in self._packages(part, left_out)]
        file = self._file(calls)
        if file.exists():
            # A package that compiles but does not run is kept, so that each check reports the failure.
            ids = [call.id for call in calls]
            return [{"file": file.name, "sha1": sha1(file.read_bytes()), "calls": ids}]
        told = problem.told if problem else ""
        if file.name not in self._ended:
            told = f"AOTInductor cannot compile the package: {told}"
        left_out |= {call.id: told for call in calls}
        return []

    @staticmethod
    def _parts(by_subject: list[list[Call]], problem: Problem) -> list[list[Call]]:
        """What gets packages of its own, where a package of all these subjects has this problem.

        To export is quick, and to compile is not: if there are subjects that cannot be exported, they are
        taken out, and the others stay together. Otherwise each half of the subjects gets a package.
        """
        if not problem.exported:
            at_fault = [calls for calls in by_subject if not can_be_exported(calls)]
            others = [calls for calls in by_subject if calls not in at_fault]
            if at_fault and others:
                return [*at_fault, list(chain(*others))]
        middle = len(by_subject) // 2
        return [list(chain(*part)) for part in (by_subject[:middle], by_subject[middle:])]

    def _problem(self, calls: list[Call]) -> Problem | None:
        """Compiles the package of these calls and runs it once; returns what went wrong, or None."""
        file = self._file(calls)
        file.unlink(missing_ok=True)
        if file.name in self._ended:
            return Problem(self._ended[file.name], exported=True)
        subjects = list(dict.fromkeys(call.subject for call in calls))
        named = subjects[0] if len(subjects) == 1 else f"{len(subjects)} operators, {subjects[0]} first"
        self._tell(f"compiling a package of {len(calls)} calls of {named}")
        with self._at(calls[0].place, "the package does not run", [file.name]):
            take_failure(calls[0].place)
            exported = False
            raised = ""
            try:
                program = export_together(calls)
                exported = True
                compile_package(program, calls, file)
                run_package(file, calls)
                wait_for(calls[0].device)
            except Exception as error:  # of many types, such as errors of the C++ compiler and the package
                raised = first_line(error)
            end_if_lost(calls[0].place)
            told = take_failure(calls[0].place) or raised
            return Problem(told, exported) if told else None

    def run(self, device: str) -> None:
        """Runs the packages in this process, and writes the digests of their outputs to DEVICE.python.json.

        A package that raises has no digests there; `outputs` raises the same error for each of its calls.
        """
        digests = {}
        for package in self._state(device).get("packages", []):
            take_failure(device)
            outputs = self._run(package)
            if not isinstance(outputs, Exception):
                digests |= {call_id: _engine.digest(tensors) for call_id, tensors in outputs.items()}
        (self.folder / f"{device}.python.json").write_text(json.dumps(digests))

    def not_tried(self, call: Call) -> str | None:
        """The reason why no package was tried for `call`, so that its cases are owed; None if one was."""
        return self._state(call.place).get("not_tried", {}).get(call.id)

    def outputs(self, call: Call) -> list[torch.Tensor]:
        """What the package returned for `call`. Raises RuntimeError with the reason if there is nothing."""
        outputs = self._run(self._package_of(call))
        if isinstance(outputs, Exception):
            raise outputs
        return outputs[call.id]

    def outputs_for(self, call: Call, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """What the package returns for `call` with the inputs `tensors`; its other calls keep their inputs.

        Raises RuntimeError with the reason if it returns nothing.
        """
        package = self._package_of(call)
        calls = [Call(call_id, self) for call_id in package["calls"]]
        return run_package(self.folder / package["file"], calls, {call.id: tensors})[call.id]

    def _package_of(self, call: Call) -> dict[str, Any]:
        """The package that holds the call. Raises RuntimeError with the reason if none does."""
        state = self._state(call.place)
        if "error" in state:
            raise RuntimeError(state["error"])
        for package in state["packages"]:
            if call.id in package["calls"]:
                return package
        raise RuntimeError(state["left_out"].get(call.id, "no package holds this call"))

    def _state(self, device: str) -> dict[str, Any]:
        file = self.folder / f"{device}.json"
        return json.loads(file.read_text()) if file.exists() else {"error": "no package was made in this run"}

    def _run(self, package: dict[str, Any]) -> Outputs | Exception:
        if package["file"] not in self._outputs:
            calls = [Call(call_id, self) for call_id in package["calls"]]
            try:
                self._outputs[package["file"]] = run_package(self.folder / package["file"], calls)
            except Exception as error:  # whatever an operator in Python raises
                self._outputs[package["file"]] = error
        return self._outputs[package["file"]]
