"""Several libraries of one project: the native and the Python worker load them alike, and as torch does."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, assert_refused, read_results

SPECS = """
import opgate
import torch

FACTORS = {"lends::quarter": 0.25, "borrows::five_quarters": 1.25}
FACTORS |= {"same_name::times_3": 3, "same_name::times_5": 5}
for name, factor in FACTORS.items():
    if hasattr(getattr(torch.ops, name.partition("::")[0]), name.partition("::")[2]):

        @opgate.spec(name)
        def promise(spec: opgate.OpSpec, factor: float = factor) -> None:
            spec.dtypes(torch.float64, device="cpu").reference(lambda x: x * factor)
            spec.accuracy(opgate.ulps(1))
            spec.sample(opgate.uniform(2, 3))
"""

NewProject = Callable[..., Path]


@pytest.fixture
def project(new_project: NewProject) -> NewProject:
    def make(*libraries: str) -> Path:
        folder = new_project(libraries=[*libraries], specs=[], python=["the_specs"], python_path=["."])
        (folder / "the_specs.py").write_text(SPECS)
        return folder

    return make


@pytest.mark.parametrize(
    "libraries",
    [("lends", "borrows"), ("borrows", "lends"), ("same_name", "same_name_5"), ("same_name_5", "same_name")],
    ids=" and ".join,
)
def test_both_workers_load_them_alike(
    opgate: OpGate, project: NewProject, libraries: tuple[str, ...]
) -> None:
    folder = project(*(f"libopgate_{name}.so" for name in libraries))
    run = opgate("run", "--check", "value.reference", "opcheck", folder=folder)
    assert run.returncode == 0, run
    cases = read_results(folder / ".opgate").cases
    assert {line["verdict"] for line in cases.values()} == {"pass"}
    checks = sorted(case.rpartition("/")[2] for case in cases if "/contiguous/" in case)
    assert checks == ["opcheck", "opcheck", "value.reference", "value.reference"]


def test_a_missing_symbol_is_named_also_where_a_module_may_bring_it(
    opgate: OpGate, project: NewProject
) -> None:
    folder = project("libopgate_borrows.so")
    refused = opgate("run", "--check", "value.reference", folder=folder)
    assert_refused(refused, "libopgate_borrows.so", "nothing defines its symbol quarter(at::Tensor const&)")


def test_a_script_loads_the_library_that_lends_symbols_first(opgate: OpGate, project: NewProject) -> None:
    folder = project("libopgate_lends.so", "libopgate_borrows.so")
    case = "five_quarters/float64/2x3/contiguous/cpu/value.reference"
    script = opgate("repro", "--python", case, folder=folder)
    assert re.search(r"ctypes\.CDLL\(.*libopgate_lends\.so\", mode=ctypes\.RTLD_GLOBAL\)", script.stdout), (
        script
    )
