"""Makes a pack usable on the machine that it was copied to."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from .pack import DIGESTS, digest_of


def check_digests(pack: Path) -> list[str]:
    """What is wrong with the files of the pack."""
    wrong = []
    for line in (pack / DIGESTS).read_text().splitlines():
        digest, _, name = line.partition("  ")
        file = pack / name
        if not file.exists():
            wrong.append(f"{name} is missing")
        elif digest_of(file) != digest:
            wrong.append(f"{name} is not what was packed")
    return wrong


def link_source(pack: Path, source: Path) -> None:
    """The build knows absolute paths of its sources; here they must lead to this checkout."""
    cache = (pack / "CMakeCache.txt").read_text().splitlines()
    home = Path(next(line for line in cache if line.startswith("CMAKE_HOME_DIRECTORY")).partition("=")[2])
    if home.exists():
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    home.symlink_to(source)


def link_libraries(pack: Path) -> None:
    """The Python packages find the libraries beside themselves."""
    for package in (pack / "python").iterdir():
        link = package / "lib"
        if not link.is_symlink():
            link.symlink_to(Path("..", "..", "lib"))
    for library in (pack / "lib").rglob("*.so*"):
        os.utime(library)  # a copy may have made the sources newer; their digests say that they are the same


def install_missing(pack: Path) -> None:
    """Those packages of the pack that this interpreter lacks."""
    for wheel in sorted((pack / "wheels").glob("*.whl")):
        if importlib.util.find_spec(wheel.name.partition("-")[0].lower()) is None:
            command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target"]
            subprocess.run([*command, str(pack / "site"), str(wheel)], check=True)


def main() -> int:
    """0 if the pack can be used, 2 if something is wrong with it."""
    parser = argparse.ArgumentParser(prog="ci/card")
    parser.add_argument("--pack", type=Path, required=True)
    options = parser.parse_args()
    if wrong := check_digests(options.pack):
        print(f"[opgate] {options.pack} is not whole, copy it again: {'; '.join(wrong[:5])}", file=sys.stderr)
        return 2
    link_source(options.pack, Path.cwd())
    link_libraries(options.pack)
    install_missing(options.pack)
    return 0


if __name__ == "__main__":
    sys.exit(main())
