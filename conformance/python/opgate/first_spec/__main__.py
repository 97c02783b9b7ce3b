"""python -m opgate.first_spec NAMESPACE --into FOLDER --config FILE: the command that `opgate init` runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from opgate.first_spec.configuration import name_specs
from opgate.first_spec.guess import first_accepted
from opgate.first_spec.operators import Operator, operators_of, recordings
from opgate.first_spec.writing import module
from opgate.worker import SetupError, load_libraries, load_modules


def counted(number: int, noun: str) -> str:
    """The number and the noun: "1 spec", "2 specs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def write(operator: Operator, folder: Path) -> str:
    """Writes the operator's file, and returns in a few words what its samples are made from."""
    file = folder / f"{operator.word}.py"
    if file.exists():
        return "has a file already, which is kept"
    guessed, refusal = (None, "") if operator.recorded is not None else first_accepted(operator)
    file.write_text(module(operator, guessed, refusal))
    if operator.recorded is not None:
        return counted(len(operator.recorded["samples"]), "recorded sample")
    return (
        "a guessed sample" if guessed is not None else "in comments: no arguments are known that it accepts"
    )


def write_all(
    namespace: str, into: Path, recorded: Path | None, libraries: list[str], modules: list[str]
) -> None:
    """Writes one file for each operator, and the package that imports them.

    Raises SetupError for a library or module that cannot be loaded, and where the namespace has no operator.
    """
    waiting = load_libraries(libraries)
    load_modules(modules)
    if failures := load_libraries(waiting):
        raise SetupError(next(iter(failures.values())))
    operators = operators_of(namespace, recordings(recorded))
    if not operators:
        known = sorted({name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names()} - {"aten"})
        raise SetupError(
            f"no operator of {namespace} is registered by the libraries and modules that are loaded; there "
            f"are operators of {', '.join(known)}"
        )
    into.mkdir(parents=True, exist_ok=True)
    width = max(len(operator.name) for operator in operators)
    for operator in operators:
        print(f"  {operator.name:<{width}}  {write(operator, into)}", flush=True)
    (into / "__init__.py").write_text(
        '"""The specs of this folder; opgate.toml names it in `python`."""\n\n'
        "import importlib\nimport pkgutil\n\n"
        "for _found in pkgutil.iter_modules(__path__):\n"
        '    importlib.import_module(f"{__name__}.{_found.name}")\n'
    )
    print(f"wrote {counted(len(operators), 'spec')} into {into}")


def main() -> int:
    """Reads the command line that `opgate init` made, and returns the exit status."""
    parser = argparse.ArgumentParser(prog="opgate init")
    parser.add_argument("namespace")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--recorded", type=Path)
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--module", action="append", default=[])
    given = parser.parse_args()
    try:
        write_all(given.namespace, given.into, given.recorded, given.library, given.module)
        name_specs(given.config, given.into)
    except (SetupError, ValueError) as error:
        print(f"opgate: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
