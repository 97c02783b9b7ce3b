"""Fixtures for tests of what is installed."""

from __future__ import annotations

import fcntl
import importlib.util
from pathlib import Path

import pytest
from environments import VERSIONS, done, run


@pytest.fixture(scope="session")
def wheel(source: Path, build: Path) -> Path:
    """The wheel for the oldest torch and the one that is tested. What is compiled already is used again."""
    if importlib.util.find_spec("uv") is None:
        pytest.skip("uv makes environments; ci/gate and ci/test install it")
    (build / "wheel").mkdir(exist_ok=True)
    with (build / "wheel" / "lock").open("w") as lock:  # tests in another process may build it, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        torches = [word for version in VERSIONS for word in ("--torch", version)]
        done(run(source / "ci" / "wheel", *torches, folder=source))
    (found,) = (source / "build" / "wheels").glob("opgate-*.whl")
    return found
