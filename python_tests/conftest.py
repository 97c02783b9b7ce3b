"""Fixtures of all tests: the build, the program, and folders to run it in."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import opgate as opgate_package
import pytest
import torch

pytest.register_assert_rewrite("harness")  # so that pytest explains the assertions of the next import
from harness import OpGate, write_config  # noqa: E402

# The build that this interpreter imports `opgate` from: BUILD/python/opgate. The program's cache lies there,
# too, so that the tests leave the user's own cache alone. uv keeps the torches that it has unpacked.
BUILD = Path(opgate_package.__file__).parents[2]
_USER_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
os.environ.setdefault("UV_CACHE_DIR", str(_USER_CACHE / "uv"))
os.environ["XDG_CACHE_HOME"] = str(BUILD / "cache")

# torch compiles the same code in each run of the tests: packages, and kernels of models. Debian's ccache has
# programs of the compilers' names. Its cache lies in the build as well, because torch compiles for the
# processor of this machine.
if (COMPILERS := Path("/usr/lib/ccache")).is_dir():
    os.environ["PATH"] = f"{COMPILERS}{os.pathsep}{os.environ['PATH']}"
    os.environ["CCACHE_SLOPPINESS"] = "pch_defines,time_macros,include_file_mtime,include_file_ctime"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="also the tests marked exhaustive, which take minutes"
    )
    parser.addoption(
        "--approve", action="store_true", help="write what commands print to python_tests/approved"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # A process takes whole files, and those that take longest must not be the last ones.
    items.sort(key=lambda item: item.path.parent.name != "slow")
    if config.getoption("--all"):
        return
    left_out = [item for item in items if item.get_closest_marker("exhaustive")]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """If all tests of a file are skipped or deselected, ctest must show it as skipped and not as passed."""
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
    """The build folder, which holds bin/opgate, lib/ and python/."""
    assert (BUILD / "bin" / "opgate").exists(), f"{BUILD} is not a build; run ci/test"
    return BUILD


@pytest.fixture(scope="session")
def source() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def opgate(build: Path, tmp_path_factory: pytest.TempPathFactory) -> OpGate:
    """Runs the program; unless a folder is given, in one that has no opgate.toml in it or above it."""
    return OpGate(build / "bin" / "opgate", tmp_path_factory.mktemp("nothing here"))


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """new_project(libraries=[...], ...) writes an opgate.toml with these settings and returns its folder."""

    def write(**settings: str | list[str]) -> Path:
        folder = tmp_path_factory.mktemp("project") / "a user's folder"
        folder.mkdir()
        write_config(folder, **settings)
        return folder

    return write


@pytest.fixture(scope="session")
def identity_project(new_project: Callable[..., Path]) -> Callable[[], Path]:
    """Each call makes a new project that has opgate_ops::identity_conv and no models."""
    return lambda: new_project(libraries=["libopgate_ops.so"], specs=["libopgate_identity_specs.so"])


@pytest.fixture(scope="session")
def has_gpu() -> bool:
    """Whether CUDA cases can run on this machine: the driver's library loads."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.fixture(scope="session")
def has_simulated_runtime(build: Path) -> bool:
    """Whether this build can simulate a device, which it cannot if it was made without nvcc."""
    return (build / "lib" / "simulator" / "libcudart.so.13").exists()


@pytest.fixture(scope="session")
def has_simulator(has_simulated_runtime: bool, has_gpu: bool) -> bool:
    """Whether CUDA cases run on the simulated device by default."""
    return not has_gpu and has_simulated_runtime


@pytest.fixture
def needs_simulated_runtime(has_simulated_runtime: bool) -> None:
    """Skips a test of programs that run with a simulated device, whether or not there is a GPU."""
    if not has_simulated_runtime:
        pytest.skip("no simulated device here")


@pytest.fixture(scope="session")
def identity_library(build: Path) -> Path:
    """The library of identity_conv, loaded into this process."""
    library = build / "lib" / "libopgate_ops.so"
    torch.ops.load_library(library)
    return library
