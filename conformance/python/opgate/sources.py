"""The files that decide what the Python half is, so that it is asked anew only where one of them changed."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path


def files_read(others: Iterable[str]) -> dict[str, list[int]]:
    """Bytes and time of change (ns) of each imported module's file, of package folders, and of `others`."""
    places = list(others)
    for module in list(sys.modules.values()):
        # From its dict, since some modules answer any name, and torch has such. What forbids an import stands
        # there as None, and some packages put objects of their own in a module's place.
        known = getattr(module, "__dict__", {})
        places += [known.get("__file__"), *(known.get("__path__") or [])]
    files = {}
    for place in places:
        if isinstance(place, str) and place.startswith("/") and Path(place).exists():
            status = Path(place).stat()
            files[place] = [status.st_size, status.st_mtime_ns]
    return files


def digest_of(modules: Iterable[str]) -> str:
    """SHA-1 over all Python files of the packages that these modules are in: what verdicts are given for."""
    digest = hashlib.sha1()  # as C++ has it for libraries; it guards against mistakes, not against malice
    for package in sorted({name.partition(".")[0] for name in modules}):
        for name, file in _python_files(package):
            digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _python_files(package: str) -> list[tuple[str, Path]]:
    found = importlib.util.find_spec(package)
    if found is None:  # of an ONNX form, which is imported later: onnx.runs will say so
        return []
    if found.submodule_search_locations is None:
        return [(package, Path(str(found.origin)))]
    folders = [Path(folder) for folder in found.submodule_search_locations]
    return sorted(
        (f"{package}/{file.relative_to(folder)}", file) for folder in folders for file in folder.rglob("*.py")
    )
