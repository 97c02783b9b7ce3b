"""A plugin of pytest below `opgate sim --changed-since REV`: only tests that a change can reach run.

For each test that passes, the file OPGATE_KERNELS_OF_TESTS has the files of the kernels of Triton that it has
launched, of what they call, and of the Python functions that were running then. A test is left out if all of
these are unchanged, and if each changed source is known to be reached by some test. So one that is new, that
has not passed, or that has launched no such kernel always runs.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

MAP = Path(os.environ["OPGATE_KERNELS_OF_TESTS"])
REVISION = os.environ["OPGATE_CHANGED_SINCE"]
SOURCES = {".py", ".pyx", ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".inl"}
NOT_KNOWN = "?"  # among the files of a test that has not passed, or that has launched kernels of Inductor

_reached: set[str] = set()  # since the running test began
_shared: set[str] = set()  # outside of tests, or by fixtures that several tests use
_running: list[str] = []
_deselected: list[pytest.Item] = []


def note_launches() -> None:
    """From now on it is known which kernels of Triton are launched."""
    from triton.runtime.jit import JITFunction

    run = JITFunction.run

    def run_noted(self: Any, *arguments: Any, **keywords: Any) -> Any:
        for kernel in (self, *arguments, *keywords.values()):
            if isinstance(kernel, JITFunction):
                _reached.update(files_of(kernel))
        frame = sys._getframe(1)
        while frame is not None:
            _reached.add(frame.f_code.co_filename)
            frame = frame.f_back  # type: ignore[assignment]
        return run(self, *arguments, **keywords)

    JITFunction.run = run_noted


def note_generated_kernels() -> None:
    """Which functions Inductor has made a kernel from is not known."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    run = CachingAutotuner.run

    def run_noted(self: Any, *arguments: Any, **keywords: Any) -> Any:
        _reached.add(NOT_KNOWN)
        return run(self, *arguments, **keywords)

    CachingAutotuner.run = run_noted


def files_of(kernel: Any) -> set[str]:
    """The files of a kernel of Triton and of the functions of Triton that it calls."""
    files: set[str] | None = kernel.__dict__.get("opgate_files")
    if files is None:
        files = kernel.__dict__["opgate_files"] = {kernel.fn.__code__.co_filename}
        names = kernel.fn.__code__.co_names
        values = {
            id(value): value for name in names if (value := kernel.fn.__globals__.get(name)) is not None
        }
        for value in (queue := list(values.values())):
            if isinstance(value, ModuleType):
                inside = {id(one): one for name in names if (one := getattr(value, name, None)) is not None}
                queue += [one for key, one in inside.items() if key not in values]
                values |= inside
            elif isinstance(value, type(kernel)):
                files |= files_of(value)
    return files


@functools.cache
def known() -> dict[str, set[str]]:
    """The files that each test has reached when it passed last, if it has launched a kernel."""
    lines = MAP.read_text().splitlines() if MAP.exists() else []
    tests = [json.loads(line) for line in lines if line.endswith("}")]
    return {test["test"]: set(test["files"]) for test in tests}


def git(*words: str) -> list[str]:
    """What a command of git prints, without its final zeros."""
    text = subprocess.run(["git", *words], cwd=MAP.parent.parent, capture_output=True, text=True, check=True)
    return text.stdout.rstrip("\0\n").split("\0") if text.stdout else []


@functools.cache
def root() -> Path:
    """The folder of the repository."""
    return Path(git("rev-parse", "--show-toplevel")[0])


@functools.cache
def changed() -> frozenset[str]:
    """The sources that differ from those of the revision, or that git does not know."""
    different = git("diff", "--name-only", "--no-renames", "-z", "--merge-base", REVISION)
    different += git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/")
    return frozenset(str(root() / file) for file in different if Path(file).suffix in SOURCES)


def strangers(tests: set[str]) -> list[str]:
    """Changed sources that no known test has reached and that are no files of tests."""
    return sorted(changed() - tests.union(*known().values()))


def in_words(tests: set[str]) -> str:
    """Which tests run, and why."""
    files = ", ".join(sorted(str(Path(file).relative_to(root())) for file in changed())) or "no source"
    begin = f"opgate sim: changed since {REVISION}: {files}; "
    if not known():
        return begin + f"all tests run, because {MAP} does not know yet what they reach"
    if unknown := strangers(tests):
        file = Path(unknown[0]).relative_to(root())
        return begin + f"all tests run, because it is not known which of them reach {file}"
    return begin + "tests that are known to reach other kernels only are left out"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests that cannot reach what has changed."""
    tests = {str(item.path) for item in items}
    if strangers(tests):
        return
    for item in items:
        files = known().get(item.nodeid)
        if files is not None and NOT_KNOWN not in files and not changed() & {*files, str(item.path)}:
            _deselected.append(item)
    config.hook.pytest_deselected(items=_deselected)
    items[:] = [item for item in items if item not in _deselected]


def pytest_report_collectionfinish(items: list[pytest.Item]) -> str:
    """The line before the tests. With pytest-xdist, which shows it of no worker, there is none."""
    return in_words({str(item.path) for item in [*items, *_deselected]})


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """It is no failure if no test had to run."""
    is_controller = session.config.pluginmanager.has_plugin("dsession")  # of pytest-xdist
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and (_deselected or is_controller):
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What was reached before, while no test ran, may matter to each of them."""
    if not _running:
        _shared.update(_reached)
    _reached.clear()
    _running[:] = [item.nodeid]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Generator[None, Any, Any]:
    """What a fixture for several tests reaches counts for all that follow."""
    before = set(_reached)
    result = yield
    if fixturedef.scope != "function":
        _shared.update(_reached - before)
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keeps what a test of this process has reached. One that has not passed runs the next time, too."""
    if report.nodeid not in _running:
        return
    if not report.passed:
        _reached.add(NOT_KNOWN)
    files = _reached | _shared
    if report.when != "teardown" or not files:
        return
    inside = sorted(file for file in files if file == NOT_KNOWN or Path(file).is_relative_to(root()))
    MAP.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"test": report.nodeid, "files": inside}) + "\n"
    with MAP.open("ab") as file:
        file.write(line.encode())
