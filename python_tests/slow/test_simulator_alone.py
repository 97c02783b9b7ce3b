"""The simulator is a project of its own: its README's commands build and test it without torch and OpGate."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import as_ci_builds, done, run

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("needs_simulated_runtime")]


def tools_without_torch(folder: Path) -> str:
    """A PATH with cmake and ninja of this environment, and a Python that has no torch."""
    folder.mkdir()
    for name in ("cmake", "ninja", "ctest"):
        found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        assert found, name
        (folder / name).symlink_to(found)
    python = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    (folder / "python3").symlink_to(python)
    import_torch = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
    if import_torch.returncode == 0:
        pytest.skip(f"{python} has torch")
    inherited = [part for part in os.environ["PATH"].split(os.pathsep) if ".venv" not in part]
    return os.pathsep.join([str(folder), *inherited])


def test_the_readme_builds_and_tests_it_without_torch(source: Path, tmp_path: Path) -> None:
    for folder in ("simulator", "cmake"):
        shutil.copytree(source / folder, tmp_path / folder)
    readme = (source / "simulator" / "README.md").read_text()
    build, test = re.findall(r"^    (c(?:make|test) .*)$", readme, re.MULTILINE)
    path = tools_without_torch(tmp_path / "tools")
    # The other tests take minutes, and run in the build of OpGate with the same sources.
    commands = (
        f"{build} --target simulator/src/all opgate_simulator_runtime_tests",
        f"{test} -R simulator.runtime --no-tests=error",
    )
    for command in commands:
        ran = done(run(*as_ci_builds(path), "bash", "-c", command, folder=tmp_path))
    assert "1/1 Test" in ran.stdout, ran.stdout
    libraries = {file.name for file in (tmp_path / "build" / "simulator" / "lib" / "simulator").iterdir()}
    assert libraries >= {"libcudart.so.13", "libcuda.so.1", "libnvrtc.so.13", "ptxas", "libnvidia-ml.so.1"}
    assert libraries >= {"libcudart.so.12", "libnvrtc.so.12"}
