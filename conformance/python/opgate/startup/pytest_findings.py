"""A plugin of pytest below `opgate sim`: each test ends with what the simulated devices found while it ran.

A test with a finding fails. A test that fails and that needs what is not simulated is owed: it is skipped,
with the reason. The devices write their findings to the file OPGATE_SIM_REPORT, with the id of the test.

pytest shall not look for assertions in this module, which has been imported before: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

# A test may call CUDA to see that it fails, so that a finding of the tool `api` fails no test.
NO_MISTAKES = ("start", "schedule", "unsupported", "api")


def register() -> None:
    """Has the pytest of this process load the plugin, also if it looks for no installed ones."""
    others = os.environ.get("PYTEST_PLUGINS")
    os.environ["PYTEST_PLUGINS"] = f"{others},{__name__}" if others else __name__


def pytest_configure(config: pytest.Config) -> None:
    """Removes the plugin from the environment: programs that tests start may not have the module."""
    others, _, _ = os.environ.pop("PYTEST_PLUGINS", "").rpartition(__name__)
    if others:
        os.environ["PYTEST_PLUGINS"] = others.rstrip(",")
    for name in ("configurations", "changes"):
        if plugin := sys.modules.get(f"opgate_startup_pytest_{name}"):
            config.pluginmanager.register(plugin)


class Findings:
    """What the devices have found in one test: lines that this process has not read yet."""

    def __init__(self) -> None:
        self.file = Path(os.environ["OPGATE_SIM_REPORT"])
        self.begin = self.file.stat().st_size

    def take(self, test: str) -> list[dict[str, Any]]:
        """The findings of the test since the last call, each mistake once. Waits for all that was issued."""
        ctypes.CDLL(None).opgate_sim_take_failure(ctypes.create_string_buffer(1), ctypes.c_size_t(1))
        with self.file.open("rb") as file:
            file.seek(self.begin)
            lines = file.read()
        whole = lines[: lines.rfind(b"\n") + 1]
        self.begin += len(whole)
        found = [json.loads(line) for line in whole.splitlines()]
        return [one for one in found if one.get("test") == test]


KEY: pytest.StashKey[Findings] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Passes by what other tests have written."""
    item.stash[KEY] = Findings()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Changes how the phase of the test has ended, if something was found in it."""
    report = yield
    if KEY not in item.stash:
        return report
    if call.excinfo is not None and not item.config.option.usepdb:
        free_variables(call.excinfo.tb)
    lines = item.stash[KEY].take(item.nodeid)
    findings = dict.fromkeys(in_words(line) for line in lines if line["tool"] not in NO_MISTAKES)
    missing = dict.fromkeys(line["message"] for line in lines if line["tool"] == "unsupported")
    if findings and report.passed:
        report.outcome = "failed"
        report.longrepr = "opgate sim: " + "\n".join(findings)
    elif findings:
        report.sections.append(("opgate sim", "\n".join(findings)))
    elif missing and report.failed:
        file, line, _ = item.location
        report.outcome = "skipped"
        error = call.excinfo.exconly(tryshort=True).splitlines()[0] if call.excinfo is not None else ""
        words = f"owed: not simulated: {', '.join(missing)}; the test fails: {error}"
        report.longrepr = (file, (line or 0) + 1, words)
    return report


def free_variables(failed: TracebackType) -> None:
    """Frees what a failed test has allocated: pytest keeps the traceback, and later tests need the memory."""
    traceback.clear_frames(failed)
    for frame, _ in traceback.walk_tb(failed):
        _ = frame.f_locals  # Before Python 3.13, a frame keeps values that were read until it is asked again.


def in_words(line: dict[str, Any]) -> str:
    """What `opgate sim` prints for the finding at its end, without the threads."""
    rows = {"kernel": line.get("kernel"), "at": line["place"].get("location") if "place" in line else None}
    return f"{line['tool']}: {line['message']}" + "".join(
        f"\n   {name:<8} {value}" for name, value in rows.items() if value
    )
