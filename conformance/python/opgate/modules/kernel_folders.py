"""Kernels that Hugging Face's kernel-builder has built, under names that stay the same for each build.

A build registers its operators in a namespace with a hash, "_relu_cpu_30dc0ae", and its Python module has
this name, too. Specs, recordings and reports name both "_relu_cpu". Where a process of OpGate knows of such
kernels, Python imports their modules by either name.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

VARIABLE = "OPGATE_KERNELS"
"""The environment variable that run/python/programs.cpp sets: {NAME: {"id", "folder"}} in JSON."""


@dataclass(frozen=True)
class KernelFolder:
    """One build: `id` is its own name, `name` that of each build; plan/kernel_folder.h reads them."""

    name: str
    id: str
    folder: Path


KERNELS = [
    KernelFolder(name, known["id"], Path(known["folder"]))
    for name, known in json.loads(os.environ.get(VARIABLE, "{}")).items()
]


def registered_name(name: str) -> str:
    """The name with the id of the build, for an operator, a function or a module: what torch knows."""
    return _renamed(name, {kernel.name: kernel.id for kernel in KERNELS})


def stable_name(name: str) -> str:
    """The reverse: the name that stays the same for each build."""
    return _renamed(name, {kernel.id: kernel.name for kernel in KERNELS})


def _renamed(name: str, others: dict[str, str]) -> str:
    end = min((at for mark in ".:" if (at := name.find(mark)) >= 0), default=len(name))
    return others.get(name[:end], name[:end]) + name[end:]


class _ImportedAlready(Loader):
    """Gives a module that Python has imported under its other name."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, and no second one: it registers operators when it is executed."""
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        """Executes nothing. importlib has replaced the module's own spec by now."""
        module.__spec__ = self.spec


class _KernelFinder(MetaPathFinder):
    """Finds the modules of kernels, which are in no folder of sys.path."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Finds a module by its stable name, or the package of a kernel by the id of the build."""
        if (registered := registered_name(name)) != name:
            module = importlib.import_module(registered)
            found = ModuleSpec(name, _ImportedAlready(module), origin=module.__file__)
            found.submodule_search_locations = getattr(module, "__path__", None)
            return found
        for kernel in KERNELS:
            if kernel.id == name:
                return importlib.util.spec_from_file_location(name, kernel.folder / "__init__.py")
        return None


if KERNELS:
    sys.meta_path.insert(0, _KernelFinder())
