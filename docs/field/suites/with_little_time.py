"""A plugin of pytest for run.py: leaves out what has ended, and further parameters of what takes long."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

SECONDS = float(os.environ["SUITE_SECONDS_OF_A_FUNCTION"])
_taken: Counter[str] = Counter()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects what has ended in an earlier run."""
    ended = json.loads(Path(os.environ["SUITE_ENDED"]).read_text())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in ended])
    items[:] = [item for item in items if item.nodeid not in ended]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips the test if its function has had its seconds."""
    if _taken[item.nodeid.split("[")[0]] > SECONDS:
        pytest.skip(f"left out: the function has taken more than {SECONDS:.0f} s with other parameters")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Counts the seconds of each function."""
    _taken[report.nodeid.split("[")[0]] += report.duration
