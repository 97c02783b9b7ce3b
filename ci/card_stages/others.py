"""Operators and functions that know nothing of OpGate, on the card: their wrong ones are known."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .machine import Machine


@dataclass(frozen=True)
class Library:
    """A folder of fixtures/ with its own opgate.toml, or one whose tests are recorded first."""

    name: str
    has_tests: bool = False
    checks: tuple[str, ...] = ()  # all of them if it is empty


LIBRARIES = (
    Library("triton"),
    Library("triton_pairs"),
    Library("compiled", checks=("aoti.python", "aoti.cpp", "aoti.dynamic", "compile.equal")),
    Library("functions_in_triton", has_tests=True),
    Library("functions_on_cuda", has_tests=True),
    Library("ten_on_cuda", has_tests=True),
)


def _is_wrong(machine: Machine, library: Library) -> Callable[[str], bool]:
    if library.name == "triton_pairs":
        return lambda name: name.endswith("_wrong")
    wrong = json.loads((machine.source / "fixtures" / "wrong_operators.json").read_text())[library.name]
    return lambda name: name in wrong


def _lay_out(machine: Machine, library: Library, folder: Path) -> None:
    """A copy of the library, in which files may be written."""
    if library.name == "ten_on_cuda":
        folder.mkdir()
        shutil.copy(machine.build / "lib" / "libopgate_ten_on_cuda.so", folder / "libten_on_cuda.so")
        shutil.copy(machine.source / "fixtures" / "libraries" / "ten_on_cuda" / "test_ten.py", folder)
        return
    shutil.copytree(machine.source / "fixtures" / library.name, folder)
    for kernels in (machine.build / library.name).glob("_kernels*.so"):
        shutil.copy(kernels, folder / "gridlib")


def _verdicts(results: Path, kept: Path) -> dict[str, set[str]]:
    """The verdicts of each operator's cases. The results are kept in a file."""
    if not results.exists():
        return {}
    shutil.copy(results, kept)
    verdicts: dict[str, set[str]] = {}
    for line in map(json.loads, results.read_text().splitlines()):
        if "verdict" in line and "case" in line:
            verdicts.setdefault(line["case"].split("/")[0], set()).add(line["verdict"])
    return verdicts


def _check(machine: Machine, library: Library, seconds: float) -> dict[str, Any]:
    opgate = machine.program("opgate")
    log = ""
    # Outside of the checkout, whose opgate.toml would be taken for that of a folder without one.
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / library.name
        _lay_out(machine, library, folder)
        if library.has_tests:
            recorded = [opgate, "record", "--", sys.executable, "-m", "pytest", "-q"]
            log += machine.run(recorded, seconds, folder=folder).output
        checks = ["--check", *library.checks] if library.checks else []
        command = [opgate, "run", "--device", "cuda", "-j", "4", *checks]
        ran = machine.run(command, seconds, folder=folder)
        verdicts = _verdicts(folder / ".opgate" / "results.jsonl", machine.output / f"{library.name}.jsonl")
    (machine.output / f"{library.name}.log").write_text(log + ran.output)
    bad = {name for name, all_of in verdicts.items() if all_of & {"fail", "crash", "timeout", "invalid"}}
    wrong = set(filter(_is_wrong(machine, library), verdicts))
    return {
        "operators": len(verdicts),
        "found": f"{len(bad & wrong)} of {len(wrong)}",
        "escaped": sorted(wrong - bad),
        "accused": sorted(bad - wrong),
        "status": ran.status,
        "ended_in_time": ran.ended_in_time,
    }


def others(machine: Machine, seconds: float) -> dict[str, Any]:
    """Each library on the card: which wrong ones are found, and which right ones are accused."""
    if machine.dry:
        return {"left_out": "the tests of the program run them on the simulated device"}
    with ThreadPoolExecutor(len(LIBRARIES)) as pool:
        rows = pool.map(lambda library: _check(machine, library, seconds / 2), LIBRARIES)
        return {library.name: row for library, row in zip(LIBRARIES, rows, strict=True)}
