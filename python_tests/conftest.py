"""What a test can ask for: the build, the program, folders to run it in."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import opgate as opgate_package
import pytest
import torch

pytest.register_assert_rewrite("harness")
from harness import OpGate, write_config  # noqa: E402 - its assertions explain themselves from the line above on

# The build that this interpreter imports `opgate` from: BUILD/python/opgate. What the program keeps for its
# next start lies there too, and not in the user's own cache.
BUILD = Path(opgate_package.__file__).parents[2]
os.environ["XDG_CACHE_HOME"] = str(BUILD / "cache")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="also the tests marked exhaustive, which take minutes"
    )
    parser.addoption(
        "--approve", action="store_true", help="write what commands print to python_tests/approved"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all"):
        return
    left_out = [item for item in items if item.get_closest_marker("exhaustive")]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A file whose tests are all skipped, or left out, is a skipped ctest, and not a passed one."""
    status = os.environ.get("OPGATE_STATUS_OF_ALL_SKIPPED")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if status is None or reporter is None or session.exitstatus not in (0, 5):
        return
    if not reporter.stats.get("passed") and (
        reporter.stats.get("skipped") or reporter.stats.get("deselected")
    ):
        session.exitstatus = int(status)


@pytest.fixture(scope="session")
def build() -> Path:
    """The build folder: bin/opgate, lib/, python/."""
    assert (BUILD / "bin" / "opgate").exists(), f"{BUILD} is no build; run ci/test"
    return BUILD


@pytest.fixture(scope="session")
def source() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def opgate(build: Path, tmp_path_factory: pytest.TempPathFactory) -> OpGate:
    """Runs the program, in a folder without a configuration in or above it unless told otherwise."""
    return OpGate(build / "bin" / "opgate", tmp_path_factory.mktemp("nothing here"))


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """new_project(libraries=[...], ...) writes an opgate.toml of these settings; returns its folder."""

    def write(**settings: str | list[str]) -> Path:
        folder = tmp_path_factory.mktemp("project") / "a user's folder"
        folder.mkdir()
        write_config(folder, **settings)
        return folder

    return write


@pytest.fixture(scope="session")
def identity_project(new_project: Callable[..., Path]) -> Callable[[], Path]:
    """A new project each time that checks opgate_ops::identity_conv, and no models."""
    return lambda: new_project(libraries=["libopgate_ops.so"], specs=["libopgate_identity_specs.so"])


@pytest.fixture(scope="session")
def has_gpu() -> bool:
    """Whether cuda cases can run here at all: the driver's library loads."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.fixture(scope="session")
def identity_library(build: Path) -> Path:
    """The library of identity_conv, loaded into this process."""
    library = build / "lib" / "libopgate_ops.so"
    torch.ops.load_library(library)
    return library
