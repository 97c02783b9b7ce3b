"""Lists of the simulator that something outside of its code must agree with."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

RUNTIMES = (
    Path(sysconfig.get_path("purelib")) / "nvidia/cu13/lib/libcudart.so.13",
    Path("/usr/local/cuda/lib64/libcudart.so.13"),
)


def test_the_runtimes_list_has_what_the_true_one_exports(source: Path) -> None:
    listed = (source / "simulator/src/runtime/functions.txt").read_text().splitlines()
    names = [line for line in listed if not line.startswith("#")]
    assert names == sorted(set(names))
    libraries = [library for library in RUNTIMES if library.exists()]
    if not libraries:
        pytest.skip("there is no libcudart.so.13 of NVIDIA's")
    for library in libraries:
        command = ["nm", "--dynamic", "--defined-only", "--without-symbol-versions", str(library)]
        symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        exported = set(re.findall(r" [TWi] (_*cuda\w+)$", symbols, re.MULTILINE))
        assert len(exported) > 400
        assert exported - set(names) == set(), library


def test_each_setting_has_a_row_on_the_page_and_a_reader(source: Path) -> None:
    simulator = source / "simulator" / "src"
    table = re.sub(r'"\n +"', "", (simulator / "environment" / "setting.cpp").read_text())
    rows = re.findall(r'Row\{"(\w+)",\s+"(.*?)",\s+"(.*?)",\s+"(.*?)"\}', table)
    assert len(rows) == table.count("Row{"), "a row has another form"
    page = (source / "docs" / "simulator.md").read_text()
    for name, otherwise, reader, meaning in rows:
        default = f"`{otherwise}`" if otherwise else "empty"
        assert f"\n| `OPGATE_SIM_{name}` | {default} | {meaning} |\n" in page
        read = re.compile(rf"(?:value_of|number|flag)\(Setting::{name.lower()}\b")
        assert [
            str(file.relative_to(simulator))
            for file in sorted(simulator.rglob("*.cpp"))
            if read.search(file.read_text())
        ].count(reader) == 1
    assert re.findall(r"^\| `OPGATE_SIM_(\w+)`", page, re.MULTILINE) == [name for name, *_ in rows]


def test_settings_are_read_by_the_table_only(source: Path) -> None:
    sources = (source / "simulator" / "src").rglob("*.cpp")
    assert [file for file in sources if 'getenv("OPGATE_SIM' in file.read_text()] == []
