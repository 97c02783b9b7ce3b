"""The PTX of the simulator's test kernels is what nvcc makes of their sources."""

import sys
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).resolve().parents[2] / "simulator" / "tests" / "kernels").glob("*.cu"))
sys.path.insert(0, str(SOURCES[0].parent))

from remake import find_nvcc, made_by, options_of, remade, version_of  # noqa: E402


def test_each_source_has_options_and_its_ptx() -> None:
    for source in SOURCES:
        assert options_of(source)[0] == "-ptx"
        assert made_by(source.with_suffix(".ptx"))


def test_nvcc_makes_the_ptx_again() -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("there is no nvcc")
    source = next(source for source in SOURCES if source.stem == "grid")
    ptx = source.with_suffix(".ptx")
    if version_of(nvcc) != made_by(ptx):
        pytest.skip(f"nvcc {version_of(nvcc)} may make other PTX than nvcc {made_by(ptx)}")
    assert remade(source, nvcc) == ptx.read_text()
