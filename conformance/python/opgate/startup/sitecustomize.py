"""Prepares each Python program that `opgate record` or `opgate sim` runs, before the program itself begins.

Python imports a module of this name when it starts. Another sitecustomize, which this one hides, is imported,
too.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules where they would be found anyway, and acts once they have been executed."""

    def __init__(self, actions: dict[str, Callable[[], None]]) -> None:
        self.actions = actions
        self.searching = False

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answers only for modules whose action is due. Some programs search for one and do not import it."""
        if self.searching or name not in self.actions:
            return None
        self.searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.searching = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                act = self.actions.pop(name, None)
                execute(module)
                if act is not None:
                    act()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def part(file: Path) -> ModuleType:
    """A module of OpGate, under a name that hides none of the program's."""
    name = f"opgate_startup_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def name_parameters_of_triton() -> None:
    """Findings on the simulated device name the parameters of kernels that the program compiles by Triton."""
    part(HERE / "triton_parameters.py").name_parameters()


def import_the_other() -> None:
    """Imports the sitecustomize that this one hides, if there is one."""
    sys.path[:] = [folder for folder in sys.path if folder != str(HERE)]
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if this is not None:
            sys.modules["sitecustomize"] = this


actions = {"triton": name_parameters_of_triton}
if "OPGATE_RECORD" in os.environ:
    recorder = part(HERE.parent / "recording" / "recorder.py")
    recorder.look_at_modules()
    actions["torch"] = recorder.begin
sys.meta_path.insert(0, Finder(actions))
import_the_other()
