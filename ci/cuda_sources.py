#!/usr/bin/env python3
"""Prints a digest of the sources of the device code: cuda_sources.py TORCH_VERSION.

The sources are the CUDA files, the C++ files of conformance/cuda, and the project's own headers that they
include, directly or through other headers. The version of torch stands for torch's headers.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
FOLDERS = ("conformance", "ops", "fixtures")
# The folders in which #include looks, besides the folder of the file itself.
SEARCHED = ("conformance/include", "conformance", "fixtures")


def included(file: Path) -> list[Path]:
    """The project's headers that the file includes directly."""
    names = re.findall(r'^#include ["<]([^">]+)[">]', file.read_text(), re.MULTILINE)
    places = [file.parent, *(SOURCE / folder for folder in SEARCHED)]
    found = [next((place / name for place in places if (place / name).is_file()), None) for name in names]
    return [header.resolve() for header in found if header]


def main() -> None:
    """Prints the torch version and the digest."""
    files = {file for folder in FOLDERS for file in (SOURCE / folder).rglob("*.cu")}
    files |= set((SOURCE / "conformance" / "cuda").glob("*.cpp"))
    waiting = list(files)
    while waiting:
        for header in included(waiting.pop()):
            if header not in files:
                files.add(header)
                waiting.append(header)
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(SOURCE)}\n".encode() + file.read_bytes())
    print(f"torch {sys.argv[1]}: {len(files)} files, sha256 {digest.hexdigest()}")


if __name__ == "__main__":
    main()
