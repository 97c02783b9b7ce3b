"""Prepares each Python program that `opgate record` or `opgate sim` runs, before the program itself begins.

Python imports a module of this name when it starts. Another sitecustomize, which this one hides, is imported,
too.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
GENERATED = "torch._inductor.runtime.triton_heuristics"


def part(file: Path) -> ModuleType:
    """A module of OpGate, under a name that hides none of the program's."""
    name = f"opgate_startup_{file.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def prepare_pytest() -> None:
    """Tests end with what the simulated devices found while they ran."""
    if first_configuration.runs_all():
        part(HERE / "all_configurations.py")
        part(HERE / "pytest_configurations.py")
    if selects_tests:
        changes = part(HERE / "pytest_changes.py")
        if "triton" in sys.modules:
            changes.note_launches()
    part(HERE / "pytest_findings.py").register()


def prepare_triton() -> None:
    """Findings name the parameters of the program's kernels, of which the first configurations are taken."""
    part(HERE / "triton_parameters.py").name_parameters()
    if "triton" in without_tuning:
        without_tuning.pop("triton")()
        if first_configuration.runs_all():
            part(HERE / "all_configurations.py").run_all()
    if selects_tests and "pytest" in sys.modules:
        part(HERE / "pytest_changes.py").note_launches()


def prepare_generated_kernels() -> None:
    """Kernels that Inductor has made."""
    without_tuning[GENERATED]()
    if selects_tests and "pytest" in sys.modules:
        part(HERE / "pytest_changes.py").note_generated_kernels()


def prepare_torch() -> None:
    """Operators of torch run on the simulated device, and calls are recorded."""
    part(HERE / "torch_kernels.py").replace_kernels()
    if records:
        part(HERE.parent / "recording" / "recorder.py").begin()


records = "OPGATE_RECORD" in os.environ
first_configuration = part(HERE / "first_configuration.py")
without_tuning = first_configuration.actions()
selects_tests = bool(os.environ.get("OPGATE_CHANGED_SINCE"))
actions = {**without_tuning, "triton": prepare_triton}
if GENERATED in without_tuning:
    actions[GENERATED] = prepare_generated_kernels
if without_tuning and os.environ.get("OPGATE_SIM_REPORT"):
    actions["pytest"] = prepare_pytest
actions["torch"] = prepare_torch
if records:
    part(HERE.parent / "recording" / "recorder.py").look_at_modules()
part(HERE / "after_import.py").act_after_imports(actions)
import_the_other()
