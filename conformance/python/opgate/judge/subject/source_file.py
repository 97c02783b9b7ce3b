"""What is judged and what it is judged by: FILE.py with a class, as KernelBench has it, FILE.py:name with a
function, FILE.so:mylib::op with an operator, or mylib::op, an operator that modules or libraries define.
Files with functions in the place of torch's overloads are found by backendbench.py.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from opgate.judge.subject.argument_file import TracedCall
from opgate.judge.subject.operators import OperatorSources, SpecSamples, operator
from opgate.judge.subject.overload import in_place_of, overload_named
from opgate.judge.subject.overload_samples import Labelled, OverloadSamples
from opgate.request import UserError


@dataclass(frozen=True)
class SourceFile:
    """A file, if there is one, and the name of what is called in it."""

    path: Path | None
    name: str
    operators: OperatorSources = OperatorSources()
    inputs: Path | None = None  # a file whose get_inputs() is used
    overload: str = ""  # of torch: it is called as that is
    calls: tuple[TracedCall, ...] = ()  # that programs have made of the overload

    @staticmethod
    def of(text: str, default: str, operators: OperatorSources | None = None, inputs: str = "") -> SourceFile:
        """For an argument of the command line. Raises UserError if there is no such file."""
        path, name = parted(text, default)
        of_inputs = Path(inputs).resolve() if inputs else None
        if of_inputs is not None and not of_inputs.is_file():
            raise UserError(f"there is no file {inputs}")
        if not path and operators is not None:
            return SourceFile(None, name, operators, of_inputs)
        file = Path(path or text).resolve()
        if not file.is_file():
            raise UserError(f"there is no file {path or text}")
        if file.suffix == ".so" and "::" not in name:
            raise UserError(f"which operator of {path} is meant? write {path}:NAMESPACE::NAME")
        return SourceFile(file, name, inputs=of_inputs)

    @staticmethod
    def from_json(described: dict[str, Any]) -> SourceFile:
        """The inverse of as_json()."""
        sources = {kind: tuple(names) for kind, names in described["operators"].items()}
        path = described["path"]
        overload = described["overload"]
        file = Path(path) if path else None
        return SourceFile(file, described["name"], OperatorSources(**sources), overload=overload)

    def as_json(self) -> dict[str, Any]:
        """What a process needs to load it."""
        return {
            "path": str(self.path or ""),
            "name": self.name,
            "operators": asdict(self.operators),
            "overload": self.overload,
        }

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.path else self.name

    def files(self) -> list[Path]:
        """All files that it is made of."""
        return [*filter(None, (self.path, self.inputs)), *self.operators.files()]

    def text(self) -> str:
        """The source, if it is one in Python."""
        is_python = self.path is not None and self.path.suffix != ".so"
        return self.path.read_text(errors="replace") if self.path and is_python else ""

    def load(self, as_name: str) -> ModuleType:
        """Imports the file; raises whatever it raises."""
        if self.path is None:
            self.operators.load()
        elif self.path.suffix == ".so":
            torch.ops.load_library(str(self.path))
        else:
            return imported(self.path, as_name)
        module = ModuleType("opgate_judged_operator")
        called = overload_named(self.name) if self.overload else operator(self.name)
        setattr(module, self.name, called)
        return module

    def adapted(self, called: Any) -> Any:
        """What is loaded, to be called with arguments as samples have them."""
        return in_place_of(overload_named(self.overload), called) if self.overload else called

    def add_inputs(self, module: ModuleType) -> tuple[list[Labelled], list[str]]:
        """Gives the loaded module a get_inputs() if it has none of its own.

        Returns the samples of the spec, or of torch's tests, and what is left out of them.
        """
        if self.overload:
            of_torch = OverloadSamples(self.overload, self.calls)
            module.get_inputs = of_torch.draw  # type: ignore[attr-defined]
            return list(of_torch.every()), of_torch.left_out
        if self.inputs is not None:
            module.get_inputs = imported(self.inputs, "opgate_judged_inputs").get_inputs  # type: ignore[attr-defined]
        if self.path is not None:
            return [], []
        samples = SpecSamples(self.name, self.operators)
        if samples.ids and self.inputs is None:
            module.get_inputs = samples.draw  # type: ignore[attr-defined]
        if not samples.ids and self.inputs is None:
            raise UserError(
                f"{self.name} has no spec here: name a file with its get_inputs() with --inputs, or the "
                "spec with --module or --spec"
            )
        return list(samples.every()), []


def parted(text: str, default: str) -> tuple[str, str]:
    """The path, which is empty for an operator alone, and the name."""
    if "::" in text:
        before, _, name = text.rpartition("::")
        path, _, namespace = before.rpartition(":")
        return path, f"{namespace}::{name}"
    path, _, name = text.rpartition(":")
    return (path, name) if path and "/" not in name else (text, default)


def imported(path: Path, as_name: str) -> ModuleType:
    """The module of a file; raises whatever its import raises."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(as_name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is not a file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[as_name] = module
    spec.loader.exec_module(module)
    return module


def made(module: ModuleType, name: str, init: list[Any], seed: int) -> Any:
    """The function of this name, or a new object of the class, made with this seed."""
    found = getattr(module, name)
    if not isinstance(found, type):
        return found
    torch.manual_seed(seed)
    return found(*init)
