"""The program and the engine link no Python."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

LIBPYTHON = re.compile(r"^libpython[\d.]*\.so")


def needed(file: Path) -> list[str]:
    """The names, without folders, of all libraries that `file` loads, those of its libraries too."""
    listed = subprocess.run(["ldd", str(file)], capture_output=True, text=True, timeout=1800, check=True)
    names = [line.split("=>")[0].split("(")[0].strip() for line in listed.stdout.splitlines()]
    return [Path(name).name for name in names]


@pytest.mark.parametrize("file", ["bin/opgate", "lib/libopgate.so", "lib/libopgate_ops.so"])
def test_nothing_links_python(file: str, build: Path) -> None:
    names = needed(build / file)
    assert "libtorch_cpu.so" in names, "ldd did not see torch: this test would prove nothing"
    assert [name for name in names if LIBPYTHON.match(name) or name.startswith("libtorch_python")] == []


def test_every_library_of_the_program_is_found(build: Path) -> None:
    listed = subprocess.run(
        ["ldd", str(build / "bin" / "opgate")], capture_output=True, text=True, timeout=1800, check=True
    )
    assert "not found" not in listed.stdout


def test_the_pattern_knows_python_from_a_path_that_names_it() -> None:
    assert LIBPYTHON.match("libpython3.11.so.1.0")
    assert not LIBPYTHON.match("libtorch_cpu.so")
