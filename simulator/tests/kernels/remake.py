"""Remakes the PTX of the kernels in this folder.

remake.py [NAME...]

For each NAME.cu, or those that are named, nvcc writes NAME.ptx, without comments and empty lines. The first
line of the PTX has the version of nvcc. The options follow `nvcc` in the first line of NAME.cu. A file of PTX
without NAME.cu is kept as it is: its first line says where it comes from.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def find_nvcc() -> str | None:
    """The path of nvcc, if the machine has one."""
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def version_of(nvcc: str) -> str:
    """The version, such as 13.0.88: another one may make other PTX."""
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\bV(\d+\.\d+\.\d+)", text)
    if found is None:
        raise ValueError(f"{nvcc} --version gives no version: {text}")
    return found[1]


def made_by(ptx: Path) -> str:
    """The version of nvcc that has made this file."""
    first = ptx.read_text().partition("\n")[0]
    found = re.search(r"nvcc (\d+\.\d+\.\d+)", first)
    if found is None:
        raise ValueError(f"{ptx}:1: this line has no version of nvcc: {first}")
    return found[1]


def options_of(source: Path) -> list[str]:
    """The options in the first line. Raises ValueError if it has none."""
    first = source.read_text().partition("\n")[0]
    found = re.search(r"nvcc ((-\S+ ?)+)", first)
    if found is None:
        raise ValueError(f"{source}:1: this line must have `nvcc` and its options: {first}")
    return found[1].split()


def remade(source: Path, nvcc: str) -> str:
    """The PTX that nvcc makes of the source now, as the file keeps it."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.ptx"
        subprocess.run([nvcc, *options_of(source), "-o", made, source], check=True, capture_output=True)
        lines = [line.partition("//")[0].rstrip() for line in made.read_text().splitlines()]
    whole = [f"// nvcc {version_of(nvcc)} has made this of {source.name}.", *filter(None, lines)]
    return "\n".join(whole) + "\n"


def main() -> int:
    """Remakes the files that are named, or all of them."""
    nvcc = find_nvcc()
    if nvcc is None:
        print("there is no nvcc", file=sys.stderr)
        return 1
    for source in [FOLDER / f"{name}.cu" for name in sys.argv[1:]] or sorted(FOLDER.glob("*.cu")):
        source.with_suffix(".ptx").write_text(remade(source, nvcc))
    return 0


if __name__ == "__main__":
    sys.exit(main())
