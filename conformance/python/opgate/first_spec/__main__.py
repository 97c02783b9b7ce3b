"""Writes first specs for `opgate init`, whose request it carries out."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgate.first_spec.configuration import name_specs
from opgate.first_spec.guess import first_accepted
from opgate.first_spec.operators import Operator, operators_of, recordings
from opgate.first_spec.registration import operator_name, registration
from opgate.first_spec.results_seen import seen_results
from opgate.first_spec.writing import module
from opgate.functions.registered import is_function, register_functions
from opgate.request import UserError, asked, status_of
from opgate.worker.setting_up import load_libraries, load_modules


@dataclass(frozen=True)
class Request:
    """The namespace of the operators, the folder for their specs, and what to read for it."""

    namespace: str
    into: str
    config: str
    recorded: str  # empty without a recording
    libraries: list[str]
    modules: list[str]
    register: bool


def counted(number: int, noun: str) -> str:
    """The number and the noun: "1 spec", "2 specs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def write(operator: Operator, folder: Path, recorded: Path | None, register: bool) -> str:
    """Writes the operator's file, and returns in a few words what its samples are made from.

    If a function is to be registered, writes a second file that does it, which the first one imports.
    """
    file = folder / f"{operator.word}.py"
    if file.exists():
        return "has a file already, which is kept"
    if register:
        assert recorded is not None
        draft = folder / f"{operator.word}_operator.py"
        draft.write_text(registration(operator, *seen_results(operator, recorded)))
        text = module(operator, None, "", operator_name(operator))
        file.write_text(
            text.replace("import torch\n", f"import torch\n\nfrom . import {draft.stem}  # noqa: F401\n", 1)
        )
        return f"registered as {operator_name(operator)} in {draft.name}"
    guessed, refusal = (None, "") if operator.recorded is not None else first_accepted(operator)
    file.write_text(module(operator, guessed, refusal))
    if operator.recorded is not None:
        return counted(len(operator.recorded["samples"]), "recorded sample")
    return (
        "a guessed sample" if guessed is not None else "in comments: no arguments are known that it accepts"
    )


def write_all(request: Request) -> None:
    """Writes one file for each operator, and the package that imports them.

    Raises UserError for a library or module that cannot be loaded, and where the namespace has no operator.
    """
    waiting = load_libraries(request.libraries)
    load_modules(request.modules)
    if failures := load_libraries(waiting):
        raise UserError(next(iter(failures.values())))
    register_functions(request.recorded, {})
    recorded = Path(request.recorded) if request.recorded else None
    operators = operators_of(request.namespace, recordings(recorded))
    if request.register:
        operators = [operator for operator in operators if is_function(operator.name)]
    if not operators:
        known = sorted({name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names()} - {"aten"})
        raise UserError(
            f"no operator of {request.namespace} is registered by the libraries and modules that are loaded; "
            f"there are operators of {', '.join(known)}; no call of a function of a module "
            f"{request.namespace} is recorded"
        )
    into = Path(request.into)
    into.mkdir(parents=True, exist_ok=True)
    width = max(len(operator.name) for operator in operators)
    for operator in operators:
        print(f"  {operator.name:<{width}}  {write(operator, into, recorded, request.register)}", flush=True)
    (into / "__init__.py").write_text(
        '"""The specs of this folder; opgate.toml names it in `python`."""\n\n'
        "import importlib\nimport pkgutil\n\n"
        "for _found in pkgutil.iter_modules(__path__):\n"
        '    importlib.import_module(f"{__name__}.{_found.name}")\n'
    )
    print(f"wrote {counted(len(operators), 'spec')} into {into}")


def main(request: dict[str, Any]) -> None:
    """Writes the specs, and names them in opgate.toml. Raises UserError."""
    wanted = Request(**request)
    write_all(wanted)
    name_specs(Path(wanted.config), Path(wanted.into))


if __name__ == "__main__":
    sys.exit(status_of(lambda: main(asked())))
