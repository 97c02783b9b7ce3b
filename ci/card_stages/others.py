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


def _ends_with_wrong(name: str) -> bool:
    return name.endswith("_wrong")


@dataclass(frozen=True)
class Library:
    """A folder of fixtures/ with its own opgate.toml, or one whose program is recorded first."""

    name: str
    is_wrong: Callable[[str], bool]
    program: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()  # all of them if it is empty


def _one_of(*names: str) -> Callable[[str], bool]:
    return lambda name: name in names


LIBRARIES = (
    Library("triton", _one_of("double_without_mask", "largest_of_last")),
    Library("triton_pairs", _ends_with_wrong),
    Library(
        "compiled",
        _one_of("BlockWithoutEps", "BlockWithoutAttention", "BlockInHalf"),
        checks=("aoti.python", "aoti.cpp", "aoti.dynamic", "compile.equal"),
    ),
    Library(
        "functions_in_triton",
        _one_of("plainkernels:double", "plainkernels:twice"),
        (sys.executable, "program.py"),
    ),
    Library(
        "functions_on_cuda",
        _one_of(
            *(f"gridlib._kernels:{name}" for name in ("squared", "doubled", "reversed", "shifted")),
            "gridlib:Cubed",
            "gridlib._kernels:cubed_backward",
        ),
        (sys.executable, "-m", "pytest", "-q"),
    ),
    Library(
        "ten_on_cuda",
        _one_of("reversed", "clipped", "doubled", "shifted", "row_max"),
        (sys.executable, "-m", "pytest", "-q"),
    ),
)


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
        if library.program:
            log += machine.run([opgate, "record", "--", *library.program], seconds, folder=folder).output
        checks = ["--check", *library.checks] if library.checks else []
        command = [opgate, "run", "--device", "cuda", "-j", "4", *checks]
        ran = machine.run(command, seconds, folder=folder)
        verdicts = _verdicts(folder / ".opgate" / "results.jsonl", machine.output / f"{library.name}.jsonl")
    (machine.output / f"{library.name}.log").write_text(log + ran.output)
    bad = {name for name, all_of in verdicts.items() if all_of & {"fail", "crash", "timeout", "invalid"}}
    wrong = {name for name in verdicts if library.is_wrong(name)}
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
