"""The files that are judged: FILE.py with a class, as KernelBench has it, or FILE.py:name with a function."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch


class SetupError(Exception):
    """What the command was given cannot be used."""


@dataclass(frozen=True)
class SourceFile:
    """A file and the name of what is called in it."""

    path: Path
    name: str

    @staticmethod
    def of(text: str, default: str) -> SourceFile:
        """Of an argument of the command line. Raises SetupError if there is no such file."""
        path, _, name = text.rpartition(":")
        if not path or "/" in name:
            path, name = text, default
        file = Path(path).resolve()
        if not file.is_file():
            raise SetupError(f"there is no file {path}")
        return SourceFile(file, name)

    def load(self, as_module: str) -> ModuleType:
        """Imports the file; raises whatever it raises."""
        sys.path.insert(0, str(self.path.parent))
        spec = importlib.util.spec_from_file_location(as_module, self.path)
        if spec is None or spec.loader is None:
            raise SetupError(f"{self.path} is not a file of Python")
        module = importlib.util.module_from_spec(spec)
        sys.modules[as_module] = module
        spec.loader.exec_module(module)
        return module


def made(module: ModuleType, name: str, init: list[Any], seed: int) -> Any:
    """The function of this name, or a new object of the class, made with this seed."""
    found = getattr(module, name)
    if not isinstance(found, type):
        return found
    torch.manual_seed(seed)
    return found(*init)
