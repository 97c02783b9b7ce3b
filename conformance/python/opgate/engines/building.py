"""Compiles the engine for the torch that is here, from the sources in the wheel, into the cache."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from opgate.engines.choice import PACKAGE, binding_in, engine_folder
from opgate.engines.torch_here import Torch

SOURCES = PACKAGE / "sources"
_STEP = re.compile(r"\[(\d+)/(\d+)\]")
_TAIL = 25  # lines of the log that an error shows
_OLDEST_CMAKE = (3, 28)


class BuildError(Exception):
    """The engine was not built; the message says why, and what to do."""


def build_engine(torch: Torch, jobs: int) -> Path:
    """Compiles the engine, with progress on stderr, and returns its folder.

    What an interrupted build has compiled is kept and used by the next one. Raises BuildError.
    """
    engine = engine_folder(torch)
    tools = _tools()
    work = engine.parent / "building" / engine.name
    try:
        work.mkdir(parents=True, exist_ok=True)
        with _alone(work):
            _compile(tools, work, jobs)
            return _install(tools["cmake"], work, engine)
    except OSError as error:
        raise BuildError(
            f"cannot write {error.filename or work}: {error.strerror}; set XDG_CACHE_HOME to a folder with a "
            "gigabyte to spare"
        ) from error


def _tools() -> dict[str, str]:
    """The programs cmake and ninja, by name. Raises BuildError if something that it needs is missing."""
    if not SOURCES.exists():
        raise BuildError(
            "this OpGate has no sources, since it was not installed by pip: build it again there, with "
            "the torch that is here now"
        )
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    names = ("cmake", "ninja")
    found = {name: path for name in names if (path := shutil.which(name, path=os.pathsep.join(places)))}
    if missing := [name for name in names if name not in found]:
        raise BuildError(f"{' and '.join(missing)} not found: pip install cmake ninja")
    version = _version_of(found["cmake"])
    if version < _OLDEST_CMAKE:
        numbers = ".".join(map(str, version))
        raise BuildError(f"{found['cmake']} is cmake {numbers}, which is too old: pip install cmake")
    compiler = os.environ.get("CXX") or "c++"
    if shutil.which(compiler) is None:
        raise BuildError(
            f"there is no C++ compiler {compiler}: install g++ 11 or newer, or set CXX to one; without root, "
            "conda-forge has gxx"
        )
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise BuildError(
            f"{sys.executable} has no headers (Python.h): install python3-dev, or use an environment of an "
            "interpreter that has them, such as those of uv, conda and pyenv"
        )
    return found


def _version_of(cmake: str) -> tuple[int, ...]:
    said = subprocess.run([cmake, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(number) for number in re.findall(r"\d+", said)[:2])


@contextlib.contextmanager
def _alone(work: Path) -> Iterator[None]:
    """No other process builds the same engine meanwhile: this one waits for it."""
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"opgate: another process builds this engine; waiting for it ({work})", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(tools: dict[str, str], work: Path, jobs: int) -> None:
    settings = {
        "OPGATE_BUILD_TESTS": "OFF",
        "OPGATE_BUILD_OPS": "OFF",
        "OPGATE_UNITE": "ON",
        "OPGATE_WARNINGS_ARE_ERRORS": "OFF",
        "OPGATE_PYTHON_FOLDER": ".",
        "OPGATE_HEADERS": SOURCES / "headers",
        "Python_EXECUTABLE": sys.executable,
        "CMAKE_MAKE_PROGRAM": tools["ninja"],
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    log = work / "build.log"
    with log.open("w") as file:
        _run([tools["cmake"], "-S", SOURCES, "-B", work / "objects", "-G", "Ninja", *defined], file, log)
        command = [tools["cmake"], "--build", work / "objects", "-j", str(jobs)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as build:
            assert build.stdout is not None
            progress = _Progress()
            for line in build.stdout:
                file.write(line)
                progress.take(line)
        progress.end()
        if build.returncode != 0:
            file.flush()
            raise BuildError(_failure(log))


def _run(command: list[str | Path], file: TextIO, log: Path) -> None:
    if subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False).returncode != 0:
        raise BuildError(_failure(log))


def _failure(log: Path) -> str:
    lines = log.read_text().splitlines()
    faults = [number for number, line in enumerate(lines) if re.search(r"\berror:|CMake Error", line)]
    shown = "\n".join(lines[faults[0] if faults else -_TAIL :][:_TAIL])
    return f"the engine could not be compiled; {log} has the whole output:\n{shown}"


def _install(cmake: str, work: Path, engine: Path) -> Path:
    """Puts the engine in its place at once: one that is there is whole."""
    staged = work / "installed"
    shutil.rmtree(staged, ignore_errors=True)
    log = work / "build.log"
    how = ["--prefix", staged, "--component", "engine", "--strip"]
    with log.open("a") as file:
        _run([cmake, "--install", work / "objects", *how], file, log)
    if binding_in(staged) is None:
        raise BuildError(f"the build made no binding for {sys.executable}; {log} has its output")
    # The program finds the checks in Python here, as in a build folder.
    (staged / "python").mkdir()
    (staged / "python" / "opgate").symlink_to(PACKAGE)
    shutil.rmtree(engine, ignore_errors=True)
    staged.replace(engine)
    shutil.rmtree(work / "objects", ignore_errors=True)
    return engine


class _Progress:
    """Shows how much is compiled: a line that changes on a terminal, a line for each tenth elsewhere."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._shown = 0
        self._on_terminal = sys.stderr.isatty()

    def take(self, line: str) -> None:
        step = _STEP.match(line)
        if step is None:
            return
        done, total = int(step[1]), int(step[2])
        tenth = 10 * done // total
        if not self._on_terminal and tenth <= self._shown:
            return
        self._shown = tenth
        taken = time.monotonic() - self._begin
        left = f", about {taken * (total - done) / done:.0f} s left" if tenth > 0 and done < total else ""
        text = f"opgate: compiled {done} of {total} in {taken:.0f} s{left}"
        print(
            f"\r\x1b[K{text}" if self._on_terminal else text,
            end="" if self._on_terminal else "\n",
            file=sys.stderr,
        )

    def end(self) -> None:
        if self._on_terminal:
            print(file=sys.stderr)
