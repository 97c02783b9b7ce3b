"""AOTInductor packages: all calls of one device in one, kept by the digest of what it was made from."""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.call import Call, first_line, flat_tensors

MANIFEST_FORMAT = 1
Outputs = dict[str, list[torch.Tensor]]
OpenSizes = dict[int, Any] | None


def open_sizes(tensor: torch.Tensor) -> OpenSizes:
    """For torch.export: open is each size that the operator leaves open; 0 and 1 have their own meanings."""
    return {dim: torch.export.Dim.AUTO for dim, size in enumerate(tensor.shape) if size > 1} or None


class AllCalls(torch.nn.Module):
    """Makes every call, each with its own tensors, and returns all their results as one flat list."""

    def __init__(self, modules: list[torch.nn.Module], tensor_counts: list[int]) -> None:
        super().__init__()
        self.calls = torch.nn.ModuleList(modules)
        self.tensor_counts = tensor_counts

    def forward(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        """Takes the tensors of all calls in order."""
        results: list[torch.Tensor] = []
        begin = 0
        for module, count in zip(self.calls, self.tensor_counts, strict=True):
            results += flat_tensors(module(*tensors[begin : begin + count]))
            begin += count
        return results


def export(
    module: torch.nn.Module, tensors: list[torch.Tensor], dynamic: list[OpenSizes] | None = None
) -> torch.export.ExportedProgram:
    """Exports without tracing bytecode: TorchBind objects and operators stay as they are in the graph."""
    with torch.no_grad():
        return torch.export.export(
            module, tuple(tensors), strict=False, dynamic_shapes=dynamic and (tuple(dynamic),)
        )


def export_error(call: Call) -> str | None:
    """Why the call alone cannot be exported, or None. Such a call must not keep others from a package."""
    try:
        export(call.module(), call.tensors())
    except Exception as error:  # torch.export raises whatever a fake kernel raises
        return f"the call cannot be exported: {first_line(error)}"
    return None


def manifest(calls: list[Call]) -> dict[str, Any]:
    """What the package says of itself, for `opgate aoti` and the native worker; see paths/package.h."""
    described = []
    schemas = {}
    for call in calls:
        eager = call.eager()
        described.append(
            {"id": call.id, **call.described, "outputs": len(eager), "eager": _engine.digest(eager)}
        )
        if not call.is_model:
            schemas[call.subject] = _engine.schema(call.subject)
    return {
        "format": MANIFEST_FORMAT,
        "device": calls[0].device,
        "torch": torch.__version__.partition("+")[0],
        "schemas": schemas,
        "calls": described,
    }


def compile_package(calls: list[Call], file: Path) -> None:
    """Compiles the calls, all of one device, into `file`. Raises what torch.export and AOTInductor raise."""
    module = AllCalls([call.module() for call in calls], [len(call.tensors()) for call in calls])
    resized = of_any_size(calls)
    dynamic = [
        open_sizes(tensor) if call.id in resized else None for call in calls for tensor in call.tensors()
    ]
    program = export(module, [tensor for call in calls for tensor in call.tensors()], dynamic)
    options = {"aot_inductor.metadata": {"opgate": json.dumps(manifest(calls))}}
    part = file.with_suffix(".part.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path=str(part), inductor_configs=options)
    part.rename(file)


def of_any_size(calls: list[Call]) -> set[str]:
    """The calls whose sizes stay open in the package: of each subject and dtype the first dense one."""
    first: dict[tuple[str, str], str] = {}
    for call in calls:
        if call.described["variant"] == "contiguous":
            first.setdefault((call.subject, call.described["dtype"]), call.id)
    return set(first.values())


def run_package(
    file: Path, calls: list[Call], instead: dict[str, list[torch.Tensor]] | None = None
) -> Outputs:
    """Runs the package on regenerated inputs: the outputs of each call. Raises RuntimeError.

    `instead` has the inputs of calls that are to be given others, by id.
    """
    runner = torch._inductor.aoti_load_package(str(file))
    inputs = [(instead or {}).get(call.id) or call.tensors() for call in calls]
    counts = [described["outputs"] for described in json.loads(runner.get_metadata()["opgate"])["calls"]]
    flat = flat_tensors(runner(*[tensor for tensors in inputs for tensor in tensors]))
    outputs: Outputs = {}
    begin = 0
    for call, count in zip(calls, counts, strict=True):
        outputs[call.id] = flat[begin : begin + count]
        begin += count
    return outputs


def sha1(content: bytes) -> str:
    """The digest under which a package is known."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


class PackageStore:
    """The packages of one output folder. DEVICE.json names those in use; see paths/package_folder.h."""

    def __init__(self, folder: Path, libraries: list[str], modules: list[str]) -> None:
        self.folder = folder
        self.libraries = [Path(library) for library in libraries]
        self.modules = modules
        self._outputs: dict[str, Outputs | RuntimeError] = {}

    @cached_property
    def _sources(self) -> str:
        """A digest of everything besides the calls that a package depends on."""
        files = [*self.libraries, *Path(__file__).parent.glob("*.py")]
        for name in self.modules:
            # A model's description lies beside the model and the fake classes: all of the package counts.
            root = sys.modules[name.partition(".")[0]]
            files += (
                Path(root.__file__).parent.rglob("*.py")
                if hasattr(root, "__path__")
                else [Path(root.__file__)]
            )
        return sha1(torch.__version__.encode() + b"".join(file.read_bytes() for file in sorted(files)))

    def _file(self, calls: list[Call]) -> Path:
        """Where the package of these calls lies, or will lie."""
        content = json.dumps([self._sources, [[call.id, call.described] for call in calls]], sort_keys=True)
        return self.folder / f"{calls[0].device}-{sha1(content.encode())[:16]}.pt2"

    def make(self, device: str, call_ids: list[str]) -> None:
        """Makes, or finds again, the packages of these calls and writes DEVICE.json.

        One package for all; where that one cannot be compiled or does not run, one for each subject, so that
        a defect of one operator is not laid at the door of the others.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        calls = [Call(call_id, self) for call_id in call_ids]
        kept_state = self._file(calls).with_suffix(".json")
        state = self._unaltered(kept_state)
        if state is None:
            left_out = {call.id: reason for call in calls if (reason := export_error(call))}
            exported = [call for call in calls if call.id not in left_out]
            packages = self._packages(exported, left_out) if exported else []
            state = {"packages": packages, "left_out": left_out}
            if (
                not left_out
            ):  # what failed may be mended outside what the digest covers: a compiler, a full disk
                part = kept_state.with_suffix(".part.json")
                part.write_text(json.dumps(state))
                part.rename(kept_state)
        (self.folder / f"{device}.json").write_text(json.dumps(state))
        (self.folder / f"{device}.python.json").unlink(missing_ok=True)
        self._outputs.clear()

    def _unaltered(self, kept_state: Path) -> dict[str, Any] | None:
        """An earlier state, if each of its packages is still the file that was made."""
        if not kept_state.exists():
            return None
        state = json.loads(kept_state.read_text())
        for package in state["packages"]:
            file = self.folder / package["file"]
            if not file.exists() or sha1(file.read_bytes()) != package["sha1"]:
                return None
        return state

    def _packages(self, calls: list[Call], left_out: dict[str, str]) -> list[dict[str, Any]]:
        """Compiles `calls`; notes in `left_out` those that cannot be."""
        groups = [calls]
        by_subject = [list(group) for _, group in groupby(calls, key=lambda call: call.subject)]
        whole_problem = self._problem(calls)
        if len(by_subject) > 1 and whole_problem is not None:
            groups = by_subject
        packages = []
        for group in groups:
            file = self._file(group)
            problem = whole_problem if group is calls else self._problem(group)
            if file.exists():
                # One that compiles and does not run stays: that it does not is for each check to say.
                ids = [call.id for call in group]
                packages.append({"file": file.name, "sha1": sha1(file.read_bytes()), "calls": ids})
            else:
                left_out |= {call.id: f"AOTInductor cannot compile the package: {problem}" for call in group}
        return packages

    def _problem(self, calls: list[Call]) -> str | None:
        """Compiles the package of these calls and runs it once: what went wrong, or None."""
        file = self._file(calls)
        file.unlink(missing_ok=True)
        try:
            compile_package(calls, file)
            run_package(file, calls)
        except (
            Exception
        ) as error:  # errors of many kinds, those of the C++ compiler and of the package among them
            return first_line(error)
        return None

    def run(self, device: str) -> None:
        """Runs the packages in this process; writes digests of their outputs to DEVICE.python.json.

        A package that raises has none there; `outputs` raises the same again for the case at hand.
        """
        digests = {}
        for package in self._state(device).get("packages", []):
            outputs = self._run(package)
            if not isinstance(outputs, RuntimeError):
                digests |= {call_id: _engine.digest(tensors) for call_id, tensors in outputs.items()}
        (self.folder / f"{device}.python.json").write_text(json.dumps(digests))

    def outputs(self, call: Call) -> list[torch.Tensor]:
        """What the package returned for `call`. Raises RuntimeError with the reason where it did not."""
        state = self._state(call.device)
        if "error" in state:
            raise RuntimeError(state["error"])
        for package in state["packages"]:
            if call.id in package["calls"]:
                outputs = self._run(package)
                if isinstance(outputs, RuntimeError):
                    raise outputs
                return outputs[call.id]
        raise RuntimeError(state["left_out"].get(call.id, "no package holds this call"))

    def outputs_for(self, call: Call, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """What the package returns for `call` where it is given these inputs, and the others theirs.

        Raises RuntimeError with the reason where it returns nothing.
        """
        for package in self._state(call.device).get("packages", []):
            if call.id in package["calls"]:
                calls = [Call(call_id, self) for call_id in package["calls"]]
                return run_package(self.folder / package["file"], calls, {call.id: tensors})[call.id]
        return self.outputs(call)  # says why no package has it

    def _state(self, device: str) -> dict[str, Any]:
        file = self.folder / f"{device}.json"
        return json.loads(file.read_text()) if file.exists() else {"error": "no package was made in this run"}

    def _run(self, package: dict[str, Any]) -> Outputs | RuntimeError:
        if package["file"] not in self._outputs:
            calls = [Call(call_id, self) for call_id in package["calls"]]
            try:
                self._outputs[package["file"]] = run_package(self.folder / package["file"], calls)
            except RuntimeError as error:
                self._outputs[package["file"]] = error
        return self._outputs[package["file"]]
