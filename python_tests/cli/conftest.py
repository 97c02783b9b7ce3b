"""Fixtures for libraries that several files test the program with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from changes import Runs
from harness import OpGate


@pytest.fixture(scope="session")
def seen_library(build: Path) -> Path:
    """The library fixtures/libraries/seen, whose operators have no spec."""
    return build / "lib" / "libopgate_seen.so"


@pytest.fixture(scope="module")
def runs(opgate: OpGate, new_project: Callable[..., Path]) -> Runs:
    """A project with the library fixtures/changes, and its runs."""
    libraries = ["libopgate_changes.so"]
    project = new_project(libraries=libraries, ledger="ledger", waivers="waivers.toml")
    (project / "waivers.toml").touch()
    return Runs(opgate, project)
