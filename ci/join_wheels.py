#!/usr/bin/env python3
"""Joins wheels of OpGate, each with the engine for one torch, in one wheel for all of them and all Pythons.

The tag manylinux_2_28 is set by auditwheel, which refuses what needs a newer C library.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

TAG = "manylinux_2_28_x86_64"
# What the engine finds in torch, and the simulated device in itself: auditwheel would copy both.
OTHERS = ("libtorch*", "libc10*", "libcudart.so*", "libcuda.so*", "libshm.so")


def run(*words: object) -> None:
    """Runs a module of this interpreter. Raises SystemExit with its output if it fails."""
    command = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("INFO:")]
        raise SystemExit("\n".join([f"ci/join_wheels.py: {' '.join(command)} failed:", *lines]))


def join(parts: list[Path], to: Path) -> Path:
    """The one wheel, below `to`."""
    with tempfile.TemporaryDirectory(prefix="opgate-wheel-") as place:
        work = Path(place)
        for part in parts:
            run("wheel", "unpack", part, "--dest", work / "all")
        (unpacked,) = (work / "all").iterdir()
        (work / "packed").mkdir()
        run("wheel", "pack", unpacked, "--dest-dir", work / "packed")
        (packed,) = (work / "packed").iterdir()
        run("wheel", "tags", "--remove", "--python-tag", "py3", "--abi-tag", "none", packed)
        (tagged,) = (work / "packed").iterdir()
        excluded = [word for name in OTHERS for word in ("--exclude", name)]
        run(
            "auditwheel",
            "repair",
            "--only-plat",
            "--plat",
            TAG,
            *excluded,
            "--wheel-dir",
            work / "repaired",
            tagged,
        )
        (repaired,) = (work / "repaired").iterdir()
        run("twine", "check", "--strict", repaired)
        to.mkdir(parents=True, exist_ok=True)
        final = to / repaired.name
        final.write_bytes(repaired.read_bytes())
    return final


def main() -> None:
    """Reads the command line, and prints the wheel and its size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", type=Path, metavar="WHEEL")
    parser.add_argument("--to", required=True, type=Path, metavar="FOLDER")
    options = parser.parse_args()
    wheel = join(options.parts, options.to)
    print(f"{wheel}: {wheel.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
