"""A library of operators that nobody has written a spec for."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def seen_library(build: Path) -> Path:
    return build / "lib" / "libopgate_seen.so"
