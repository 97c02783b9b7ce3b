"""How the Python worker is set up: what it imports, loads and learns before the first call."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.functions.registered import register_functions
from opgate.judging.registry import Check, prose_of
from opgate.modules.inputs import ModuleInputs
from opgate.modules.registration import (
    ReplacedKernels,
    all_operators,
    defined_in,
    registered,
    with_schema,
)
from opgate.modules.sources import mapped_libraries, project_files
from opgate.mutation import running
from opgate.request import UserError
from opgate.specs.class_spec import CLASSES
from opgate.specs.model import MODELS
from opgate.specs.spec import SPECS
from opgate.startup.torch_kernels import replace_kernels
from opgate.startup.triton_parameters import name_parameters


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """torch computes with one thread meanwhile: its pool would outlive the imports and forbid forks."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def load_modules(names: list[str]) -> None:
    """Imports the modules that opgate.toml lists. Raises UserError that names the module and the reason."""
    for name in names:
        try:
            with one_thread():
                importlib.import_module(name)
        except (Exception, SystemExit) as error:  # a user's module may raise anything while it is imported
            message = " ".join(str(error).split())
            raise UserError(
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
    try:
        why: str = _engine.load_operators(library)
    except RuntimeError as error:
        return str(error)
    if not why:
        # torch writes them into the programs that repeat its own errors.
        torch.ops.loaded_libraries.add(library)
    return why


@dataclass(frozen=True)
class Project:
    """What the project's libraries and modules brought into this process."""

    libraries: list[str]  # also those that the listed ones need, on which a package depends, too
    of_libraries: set[str]  # operators that libraries define
    of_modules: set[str]  # operators that Python modules define
    files: dict[str, str]  # the files of the project's modules that were imported, by their names
    read: ModuleInputs  # goes on until the specs are loaded


def import_project(setup: dict[str, Any]) -> Project:
    """Loads the libraries, imports the modules, and registers functions as operators."""
    before = all_operators()
    replace_kernels()
    replaced = ReplacedKernels(setup["recorded"])
    mapped_before = mapped_libraries()
    waiting = load_libraries(setup["libraries"])
    libraries = sorted(mapped_libraries() - mapped_before | set(setup["libraries"]))
    of_libraries = with_schema(all_operators() - before)
    imported_before = set(sys.modules)
    read = ModuleInputs(setup["modules"], Path(setup["packages"]).parent)
    load_modules(setup["modules"])
    running.demand_right_modules()
    imported = project_files(imported_before)
    # They may need what a module has loaded by now.
    if failures := load_libraries(waiting):
        raise UserError(f"in Python, {next(iter(failures.values()))}")
    replaced.share_keys()
    if "triton" in sys.modules:
        name_parameters()
    of_modules = all_operators() - before - of_libraries
    return Project(libraries, of_libraries, of_modules, imported, read)


def load_specs(setup: dict[str, Any]) -> list[dict[str, Any]]:
    """Loads all specs into the engine; returns those in Python, for models and classes, too."""
    try:
        register_functions(setup["recorded"], SPECS)
        subjects = [each.as_json() for kind in (SPECS, CLASSES, MODELS) for each in kind.values()]
        _engine.load(
            setup["specs"],
            json.dumps(subjects),
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
        raise UserError(str(error)) from error
    return subjects


def registrations(project: Project, listed: dict[str, str]) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """The operators that Python modules define, and by name what operators are registered with.

    `listed` are the files of the modules that opgate.toml lists.
    """
    found: dict[str, dict[str, Any]] = {}
    if any(name.startswith("aten::") for name in _engine.registrations([])):
        import torch._meta_registrations  # noqa: F401  (many of ATen's own fake kernels are written in Python)

        found = registered([])
    if not listed:  # Python registers nothing that the libraries do not
        return [], found
    namespaces = {name.partition("::")[0] for name in [*project.of_libraries, *SPECS]}
    operators = defined_in(listed.values(), project.of_modules, namespaces)
    found = registered(operators)
    _engine.set_without_fake([name for name, known in found.items() if not known["fake"]])
    return operators, found


def other_files(setup: dict[str, Any], checks: dict[str, Check]) -> list[str]:
    """The files besides Python modules on which the description of this worker depends."""
    # Samples that are kept in files name operators, too.
    samples = [Path(setup[kind]) for kind in ("recorded", "regressions", "samples") if setup[kind]]
    samples += [file for folder in samples if folder.is_dir() for file in folder.rglob("*.json")]
    prose = [prose_of(check.judge) for check in checks.values()]
    return [*setup["libraries"], *setup["specs"], _engine.__file__, *map(str, samples + prose)]
