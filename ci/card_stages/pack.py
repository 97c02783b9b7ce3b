"""Puts all that a machine with a GPU needs into one folder."""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

DIGESTS = "digests.txt"
# What `opgate evidence` reads to know which files a library was made from.
OF_BUILD = ("build.ninja", "CMakeFiles/rules.ninja", ".ninja_deps", "CMakeCache.txt")


def digest_of(file: Path) -> str:
    """SHA-256 of the file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def wanted_files(build: Path) -> dict[str, Path]:
    """The files of the pack, by their paths in it."""
    files: dict[str, Path] = {name: build / name for name in OF_BUILD}
    for folder in ("bin", "lib", "functions_on_cuda"):
        for file in sorted((build / folder).rglob("*")):
            if file.is_file() and not file.name.endswith(("_tests", "_benchmarks")):
                files[str(file.relative_to(build))] = file
    for package in sorted((build / "python").iterdir()):
        for file in sorted(package.rglob("*")):
            inside = file.relative_to(build / "python")
            if file.is_file() and "__pycache__" not in inside.parts and inside.parts[1] != "lib":
                files[f"python/{inside}"] = file
    return files


def put(source: Path, target: Path) -> bool:
    """Copies a file, stripped of symbols if it is a program or library. False if it is up to date."""
    if target.exists() and target.stat().st_mtime_ns == source.stat().st_mtime_ns:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
    if source.read_bytes()[:4] == b"\x7fELF":
        subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)
        shutil.copystat(source, target)
    return True


def download_wheels(folder: Path, names: list[str]) -> None:
    """Wheels of the versions that this environment has, without their dependencies."""
    folder.mkdir(parents=True, exist_ok=True)
    pins = [f"{name}=={importlib.metadata.version(name)}" for name in names]
    there = {tuple(wheel.name.lower().replace("_", "-").split("-")[:2]) for wheel in folder.glob("*.whl")}
    missing = [pin for pin in pins if tuple(pin.lower().split("==")) not in there]
    if missing:
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--only-binary=:all:", "-d", str(folder), *missing], check=True)


def main() -> int:
    """0 if the pack is whole and small enough, 1 if it is too large."""
    parser = argparse.ArgumentParser(prog="ci/card --pack")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--most-mib", type=int, required=True)
    parser.add_argument("--wheels", nargs="*", default=[])
    options = parser.parse_args()
    wanted = wanted_files(options.build)
    copied = sum(put(source, options.pack / name) for name, source in wanted.items())
    download_wheels(options.pack / "wheels", options.wheels)
    for file in sorted(options.pack.rglob("*")):
        name = str(file.relative_to(options.pack))
        if file.is_file() and name not in wanted and name != DIGESTS and not name.startswith("wheels/"):
            file.unlink()
    files = sorted(file for file in options.pack.rglob("*") if file.is_file() and file.name != DIGESTS)
    lines = [f"{digest_of(file)}  {file.relative_to(options.pack)}\n" for file in files]
    (options.pack / DIGESTS).write_text("".join(lines))
    mib = sum(file.stat().st_size for file in files) / 2**20
    print(f"[opgate] {options.pack}: {len(files)} files, {mib:.1f} MiB; {copied} were not up to date")
    if mib <= options.most_mib:
        return 0
    print(f"[opgate] that is more than {options.most_mib} MiB", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
