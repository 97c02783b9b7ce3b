"""AOTInductor packages: all calls of one device in one package, kept by the digest of what it was made from."""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.call import Call, first_line, flat_tensors

MANIFEST_FORMAT = 1


class AllCalls(torch.nn.Module):
    """Makes every call, each with its own tensors, and returns all their results as one flat list."""

    def __init__(self, modules: list[torch.nn.Module], tensor_counts: list[int]) -> None:
        super().__init__()
        self.calls = torch.nn.ModuleList(modules)
        self.tensor_counts = tensor_counts

    def forward(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        results: list[torch.Tensor] = []
        begin = 0
        for module, count in zip(self.calls, self.tensor_counts, strict=True):
            results += flat_tensors(module(*tensors[begin : begin + count]))
            begin += count
        return results


def export(module: torch.nn.Module, tensors: list[torch.Tensor]) -> torch.export.ExportedProgram:
    """Exports without tracing Python bytecode: TorchBind objects and operators stay as they are in the graph."""
    with torch.no_grad():
        return torch.export.export(module, tuple(tensors), strict=False)


def export_error(call: Call) -> str | None:
    """Why the call alone cannot be exported, or None. One such call must not keep the others from being packaged."""
    try:
        export(call.module(), call.tensors())
    except Exception as error:  # torch.export raises whatever a fake kernel raises
        return f"the call cannot be exported: {first_line(error)}"
    return None


def manifest(device: str, calls: list[Call]) -> dict[str, Any]:
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
        "device": device,
        "torch": torch.__version__.partition("+")[0],
        "schemas": schemas,
        "calls": described,
    }


def package(calls: list[Call], file: Path) -> Path:
    """Compiles the calls, all of one device, into `file`. Raises what torch.export and AOTInductor raise."""
    device = calls[0].device
    module = AllCalls([call.module() for call in calls], [len(call.tensors()) for call in calls])
    program = export(module, [tensor for call in calls for tensor in call.tensors()])
    options = {"aot_inductor.metadata": {"opgate": json.dumps(manifest(device, calls))}}
    made = torch._inductor.aoti_compile_and_package(program, package_path=str(file), inductor_configs=options)
    return Path(made)


class PackageStore:
    """The packages of one output folder. DEVICE.json names the one in use; see paths/package_folder.h."""

    def __init__(self, folder: Path, libraries: list[str], modules: list[str]) -> None:
        self.folder = folder
        self.libraries = [Path(library) for library in libraries]
        self.modules = modules
        self._outputs: dict[str, dict[str, list[torch.Tensor]]] = {}

    @cached_property
    def _sources(self) -> bytes:
        """A digest of everything besides the calls that a package depends on."""
        state = hashlib.sha1(torch.__version__.encode(), usedforsecurity=False)
        files = [*self.libraries, *Path(__file__).parent.glob("*.py")]
        files += [Path(sys.modules[name].__file__) for name in self.modules]
        for file in sorted(files):
            state.update(file.read_bytes())
        return state.digest()

    def _key(self, calls: list[Call]) -> str:
        state = hashlib.sha1(self._sources, usedforsecurity=False)
        for call in calls:
            state.update(json.dumps([call.id, call.described], sort_keys=True).encode())
        return state.hexdigest()[:16]

    def make(self, device: str, call_ids: list[str]) -> None:
        """Makes, or finds again, the package of these calls and writes DEVICE.json."""
        self.folder.mkdir(parents=True, exist_ok=True)
        calls = [Call(call_id, self) for call_id in call_ids]
        file = self.folder / f"{device}-{self._key(calls)}.pt2"
        left_out_file = file.with_suffix(".json")
        if not (file.exists() and left_out_file.exists()):
            left_out = {call.id: reason for call in calls if (reason := export_error(call))}
            kept = [call for call in calls if call.id not in left_out]
            if not kept:
                self._write(
                    device,
                    {
                        "error": "none of the calls can be exported; the first: "
                        + next(iter(left_out.values()))
                    },
                )
                return
            try:
                package(kept, file.with_suffix(".part.pt2")).rename(file)
            except (
                Exception
            ) as error:  # AOTInductor raises errors of many kinds, the C++ compiler's among them
                self._write(device, {"error": f"AOTInductor cannot compile the package: {first_line(error)}"})
                return
            left_out_file.write_text(json.dumps(left_out))
        digest = hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
        self._write(
            device, {"file": file.name, "sha1": digest, "left_out": json.loads(left_out_file.read_text())}
        )

    def _write(self, device: str, state: dict[str, Any]) -> None:
        (self.folder / f"{device}.json").write_text(json.dumps(state))
        (self.folder / f"{device}.python.json").unlink(missing_ok=True)
        self._outputs.pop(device, None)

    def run(self, device: str) -> None:
        """Runs the package once in this process and writes the digests of its outputs to DEVICE.python.json.

        Where it raises, nothing is written; `outputs` raises the same again for the case at hand.
        """
        try:
            outputs = self._run_all(device)
        except RuntimeError:
            return
        digests = {call_id: _engine.digest(tensors) for call_id, tensors in outputs.items()}
        (self.folder / f"{device}.python.json").write_text(json.dumps(digests))

    def outputs(self, call: Call) -> list[torch.Tensor]:
        """What the package returned for `call`. Raises RuntimeError with the reason where there is nothing."""
        outputs = self._run_all(call.device)
        if call.id in outputs:
            return outputs[call.id]
        state = self._state(call.device)
        raise RuntimeError(state["left_out"].get(call.id, "the package does not hold this call"))

    def _state(self, device: str) -> dict[str, Any]:
        file = self.folder / f"{device}.json"
        state = (
            json.loads(file.read_text()) if file.exists() else {"error": "no package was made in this run"}
        )
        if "error" in state:
            raise RuntimeError(state["error"])
        return state

    def _run_all(self, device: str) -> dict[str, list[torch.Tensor]]:
        if device not in self._outputs:
            file = self.folder / self._state(device)["file"]
            runner = torch._inductor.aoti_load_package(str(file))
            contents = json.loads(runner.get_metadata()["opgate"])["calls"]
            calls = [Call(described["id"], self) for described in contents]
            flat = flat_tensors(runner(*[tensor for call in calls for tensor in call.tensors()]))
            results = {}
            begin = 0
            for described in contents:
                results[described["id"]] = flat[begin : begin + described["outputs"]]
                begin += described["outputs"]
            self._outputs[device] = results
        return self._outputs[device]
