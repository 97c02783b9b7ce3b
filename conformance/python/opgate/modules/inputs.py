"""Notices what the project's modules read while they are imported: data files and environment variables.

Specs may come from them. Results name both, and the catalog of specs is kept for as long as they stay the
same.
What the modules of installed packages read for themselves does not count, nor what the program writes.
"""

from __future__ import annotations

import hashlib
import os
import site
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from opgate.modules.sources import installed_folders

OWN = str(Path(__file__).parents[1]) + os.sep
SYSTEM = ("/proc/", "/sys/", "/dev/", "/run/", "/etc/", "/usr/")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
IMPORTS = "<frozen importlib"
LOOKUPS = (os.getenv.__code__.co_filename, Mapping.get.__code__.co_filename)  # some are frozen


class ModuleInputs:
    """Watches this process from its construction until stop(). `listed` are the modules of opgate.toml."""

    def __init__(self, listed: Iterable[str], output: Path) -> None:
        self._listed = {name.partition(".")[0] for name in listed}
        folders = {*installed_folders(), site.getusersitepackages()}
        self._installed = tuple(sorted((folder + os.sep for folder in folders), key=len, reverse=True))
        self._not_data = (*SYSTEM, *caches(), str(output) + os.sep)
        self._read: dict[str, None] = {}
        self._written: set[str] = set()
        self._variables: dict[str, str | None] = {}
        self._set: set[str] = set()
        self._is_watching = True
        self.is_installed = cache(self._is_installed)
        sys.addaudithook(self._audit)
        _watch_environment(self._note_variable, self._set.add)

    def stop(self) -> None:
        """Nothing is noticed any more. An audit hook cannot be removed."""
        self._is_watching = False
        os.environ.__class__ = os._Environ

    def files(self) -> list[str]:
        """The files that were read, and those that were looked for in vain."""
        return [
            path
            for path in self._read
            if path not in self._written and not self.is_installed(path) and not os.path.isdir(path)
        ]

    def variables(self) -> dict[str, str]:
        """SHA-1 of each value, because it may be a secret; empty where the variable is not set."""
        return {
            name: "" if value is None else hashlib.sha1(os.fsencode(value)).hexdigest()
            for name, value in self._variables.items()
        }

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_watching:
            return
        if event == "os.rename":
            self._written.add(_absolute(arguments[1]))
        elif event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
            path = _absolute(arguments[0])
            mode, flags = arguments[1], arguments[2]
            if flags & WRITING if isinstance(flags, int) else set(str(mode)) & set("wax+"):
                self._written.add(path)
            elif path.endswith(".pyc") or path.startswith(self._not_data):
                return
            elif _is_caused_by(_frames(), self.is_installed):
                self._read.setdefault(path)

    def _note_variable(self, name: str, value: str | None) -> None:
        if name in self._set or name in self._variables:
            return
        reader = _reader()
        if reader is not None and _is_caused_by(iter([reader]), self.is_installed):
            self._variables[name] = value

    def _is_installed(self, path: str) -> bool:
        if path.startswith(OWN):
            return True
        folder = next((folder for folder in self._installed if path.startswith(folder)), None)
        if folder is None:
            return False
        first = path[len(folder) :].partition(os.sep)[0]
        return first.removesuffix(".py") not in self._listed


def caches() -> list[str]:
    """Where compilers keep what they make: it says nothing of a spec."""
    home = os.path.expanduser("~")
    places = [os.environ.get("XDG_CACHE_HOME", f"{home}/.cache"), f"{home}/.triton", f"{home}/.nv"]
    places += [os.environ.get(name, "") for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")]
    places.append(f"{tempfile.gettempdir()}/torchinductor_")
    return [place if place.endswith("_") else place + os.sep for place in places if place]


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))


def _frames() -> Iterator[FrameType]:
    """The frames that led here, the innermost first, without those of this file."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename != __file__:
            yield frame
        frame = frame.f_back


def _is_caused_by(frames: Iterator[FrameType], is_installed: Callable[[str], bool]) -> bool:
    """Whether code of the project asked for it, perhaps through functions of packages, and not an import."""
    for frame in frames:
        file = frame.f_code.co_filename
        if file.startswith(IMPORTS):
            return False
        if os.path.isabs(file) and not is_installed(file):
            return True
    return False


def _reader() -> FrameType | None:
    """The frame that reads a variable, through whichever methods of os.environ."""
    return next((frame for frame in _frames() if frame.f_code.co_filename not in LOOKUPS), None)


def _reading_instruction() -> tuple[int, int]:
    reader = _reader()
    return (0, 0) if reader is None else (id(reader), reader.f_lasti)


def _watch_environment(note: Callable[[str, str | None], None], note_set: Callable[[str], Any]) -> None:
    copying = (0, 0)  # the instruction that goes over all variables: that it reads one says nothing

    class Watched(os._Environ):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[str]:
            nonlocal copying
            copying = _reading_instruction()
            yield from super().__iter__()

        def __getitem__(self, name: Any) -> Any:
            if copying == _reading_instruction():
                return super().__getitem__(name)
            try:
                value = super().__getitem__(name)
            except KeyError:
                note(name, None)
                raise
            note(name, value)
            return value

        def __setitem__(self, name: Any, value: Any) -> None:
            note_set(name)
            super().__setitem__(name, value)

        def __delitem__(self, name: Any) -> None:
            note_set(name)
            super().__delitem__(name)

    os.environ.__class__ = Watched
