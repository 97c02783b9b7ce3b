"""The files on which the Python half depends, so that it is started only if one of them has changed."""

from __future__ import annotations

import hashlib
import importlib.util
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path


def files_read(others: Iterable[str]) -> dict[str, list[int] | None]:
    """Size (bytes) and modification time (ns) of all modules' files, of package folders, and of `others`.

    None stands for one of `others` that does not exist.
    """
    files: dict[str, list[int] | None] = dict.fromkeys(others)
    places = list(files)
    for module in list(sys.modules.values()):
        # The dict is read directly, because some modules, also of torch, have a __getattr__ for any name. An
        # entry of sys.modules may be None, which forbids an import, or an object that is not a module.
        known = getattr(module, "__dict__", {})
        places += [known.get("__file__"), *(known.get("__path__") or [])]
    for place in places:
        if isinstance(place, str) and place.startswith("/") and Path(place).exists():
            status = Path(place).stat()
            files[place] = [status.st_size, status.st_mtime_ns]
    return files


def mapped_libraries() -> set[str]:
    """The shared libraries that this process has loaded, without those of the system."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    files = {line.split(maxsplit=5)[5] for line in lines if "/" in line}
    system = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
    return {file for file in files if ".so" in Path(file).name and not file.startswith(system)}


def python_files(modules: Iterable[str]) -> dict[str, Path]:
    """All Python files of the packages that these modules are in, by their paths where Python looks."""
    packages = sorted({name.partition(".")[0] for name in modules})
    return {name: file for package in packages for name, file in _files_of(package)}


def digest_of(files: Mapping[str, Path]) -> str:
    """SHA-1 over these files and their names."""
    digest = hashlib.sha1()  # as C++ uses it for libraries: against mistakes, not against attacks
    for name, file in files.items():
        digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def module_files(modules: Iterable[str]) -> dict[str, str]:
    """By name: all Python files of the packages that these modules are in."""
    return {_module_name(path): str(file) for path, file in python_files(modules).items()}


def project_files(before: set[str]) -> dict[str, str]:
    """By name: files of modules imported since `before` that neither Python nor an installed package brought.

    A listed module may have its promises in another file beside it.
    """
    installed = installed_folders()
    files = {}
    for name in sorted(sys.modules.keys() - before):
        file = getattr(sys.modules[name], "__dict__", {}).get("__file__")
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        if name.partition(".")[0] != "opgate" and not any(map(Path(file).is_relative_to, installed)):
            files[name] = file
    return files


def installed_folders() -> set[str]:
    """Where Python's own modules and installed packages lie."""
    schemes = ("stdlib", "platstdlib", "purelib", "platlib")
    return {*map(sysconfig.get_path, schemes), *site.getsitepackages()}


def _module_name(path: str) -> str:
    """The module in the file at this path below a folder where Python looks: "package/part/__init__.py"."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _files_of(package: str) -> list[tuple[str, Path]]:
    found = importlib.util.find_spec(package)
    if found is None:  # the module of an ONNX form, which is imported later: onnx.runs reports the error
        return []
    if found.submodule_search_locations is None:
        return [(package, Path(str(found.origin)))]
    folders = [Path(folder) for folder in found.submodule_search_locations]
    return sorted(
        (f"{package}/{file.relative_to(folder)}", file) for folder in folders for file in folder.rglob("*.py")
    )
