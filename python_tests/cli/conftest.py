"""Fixtures for the library fixtures/libraries/seen, whose operators have no spec."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def seen_library(build: Path) -> Path:
    return build / "lib" / "libopgate_seen.so"
