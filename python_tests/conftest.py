"""What a test can ask for: the build, the program, folders to run it in, libraries compiled on the spot."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

pytest.register_assert_rewrite("harness")
from harness import Compiler, OpGate  # noqa: E402 - its assertions explain themselves from the line above on


@pytest.fixture(scope="session")
def build() -> Path:
    """The build folder: bin/opgate, lib/, python/."""
    return Path(os.environ["OPGATE_BUILD"])


@pytest.fixture(scope="session")
def source() -> Path:
    """The repository."""
    return Path(os.environ["OPGATE_SOURCE"])


@pytest.fixture(scope="session")
def opgate(build: Path, tmp_path_factory: pytest.TempPathFactory) -> OpGate:
    """Runs the program, in a folder without a configuration in or above it unless told otherwise."""
    return OpGate(build / "bin" / "opgate", tmp_path_factory.mktemp("nothing here"))


@pytest.fixture(scope="session")
def compiler(build: Path, source: Path) -> Compiler:
    """Compiles operator and spec libraries as a user's would be."""
    return Compiler(build, source)


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """new_project(libraries=[...], ...) writes an opgate.toml of these settings; returns its folder."""

    def write(**settings: str | list[str]) -> Path:
        folder = tmp_path_factory.mktemp("project") / "a user's folder"
        folder.mkdir()
        # JSON's strings and lists of strings are TOML's, too.
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in settings.items()]
        (folder / "opgate.toml").write_text("".join(lines))
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
