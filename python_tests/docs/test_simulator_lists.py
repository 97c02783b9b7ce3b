"""Lists of the simulator that something outside of its code must agree with."""

import re
import subprocess
import sysconfig
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

RUNTIMES = (
    Path(sysconfig.get_path("purelib")) / "nvidia/cu13/lib/libcudart.so.13",
    Path("/usr/local/cuda/lib64/libcudart.so.13"),
)


def lines_of(file: Path) -> list[str]:
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    assert lines == sorted(set(lines))
    return lines


def exported_by(library: Path) -> set[str]:
    command = ["nm", "--dynamic", "--defined-only", "--without-symbol-versions", str(library)]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    exported = set(re.findall(r" [TWi] (_*cuda\w+)$", symbols, re.MULTILINE))
    assert len(exported) > 400
    return exported


def test_the_runtimes_list_has_what_the_true_one_exports(source: Path) -> None:
    names = lines_of(source / "simulator/src/runtime/functions.txt")
    libraries = [library for library in RUNTIMES if library.exists()]
    if not libraries:
        pytest.skip("there is no libcudart.so.13 of NVIDIA's")
    for library in libraries:
        assert exported_by(library) - set(names) == set(), library


def test_the_list_for_cuda_12_has_what_its_runtime_exports(source: Path) -> None:
    runtime = source / "simulator/src/runtime"
    names = set(lines_of(runtime / "functions.txt"))
    others = dict(line.split(" ") for line in lines_of(runtime / "cuda12/other_functions.txt"))
    aims = {aim for aim in others.values() if not aim.startswith("cuda12_")}
    assert aims - names == set()
    defined = set(re.findall(r"\bcuda12_\w+(?=\()", (runtime / "cuda12/api_cuda12.cpp").read_text()))
    assert defined - set(others.values()) == set()
    try:
        package = distribution("nvidia-cuda-runtime-cu12")
    except PackageNotFoundError:
        pytest.skip("there is no libcudart.so.12 of NVIDIA's: nvidia-cuda-runtime-cu12 is not installed")
    exported = exported_by(Path(str(package.locate_file("nvidia/cuda_runtime/lib/libcudart.so.12"))))
    assert exported - names - set(others) == set()
    assert set(others) - exported == set()


def test_each_setting_has_a_row_on_the_page_and_a_reader(source: Path) -> None:
    simulator = source / "simulator" / "src"
    table = re.sub(r'"\n +"', "", (simulator / "environment" / "setting.cpp").read_text())
    rows = re.findall(r'Row\{"(\w+)",\s+"(.*?)",\s+"(.*?)",\s+"(.*?)"\}', table)
    assert len(rows) == table.count("Row{"), "a row has another form"
    page = (source / "docs" / "simulator.md").read_text()
    for name, otherwise, reader, meaning in rows:
        default = f"`{otherwise}`" if otherwise else "empty"
        assert f"\n| `OPGATE_SIM_{name}` | {default} | {meaning} |\n" in page
        read = re.compile(rf"(?:value_of|number|flag|is_all)\(Setting::{name.lower()}\b")
        assert [
            str(file.relative_to(simulator))
            for file in sorted(simulator.rglob("*.cpp"))
            if read.search(file.read_text())
        ].count(reader) == 1
    assert re.findall(r"^\| `OPGATE_SIM_(\w+)`", page, re.MULTILINE) == [name for name, *_ in rows]


def test_settings_are_read_by_the_table_only(source: Path) -> None:
    sources = (source / "simulator" / "src").rglob("*.cpp")
    assert [file for file in sources if 'getenv("OPGATE_SIM' in file.read_text()] == []
