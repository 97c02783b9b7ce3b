"""Fixtures for tests of what is installed."""

from __future__ import annotations

import fcntl
import importlib.util
import os
from pathlib import Path

import pytest
from environments import VERSIONS, as_ci_builds, done, run


@pytest.fixture(scope="session")
def wheel(source: Path, build: Path) -> Path:
    """The wheel for the oldest torch and the one that is tested. What is compiled already is used again."""
    if importlib.util.find_spec("uv") is None:
        pytest.skip("uv makes environments; ci/gate and ci/test install it")
    (build / "wheel").mkdir(exist_ok=True)
    this_run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    with (build / "wheel" / "built-by").open("a+") as built_by:  # tests in another process need it, too
        fcntl.flock(built_by, fcntl.LOCK_EX)
        built_by.seek(0)
        if built_by.read() != this_run:
            torches = [word for version in VERSIONS for word in ("--torch", version)]
            done(run(*as_ci_builds(), source / "ci" / "wheel", *torches, folder=source))
            built_by.truncate(0)
            built_by.write(this_run)
    (found,) = (source / "build" / "wheels").glob("opgate-*.whl")
    return found
