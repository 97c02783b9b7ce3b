"""Environments of their own, in which tests install the wheel as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "ci"))
from what_works import Environment, variables_of_user  # noqa: E402, F401  (what tries the wheel makes them)

VERSION = torch.__version__.partition("+")[0]


def _from_scripts(what: str) -> str:
    """What the functions that the scripts in ci/ share print for this line of bash."""
    command = ["bash", "-c", f"source ci/lib.sh; {what}"]
    return subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=True).stdout


# The torches for which the tests' wheel has an engine.
VERSIONS = list(dict.fromkeys([_from_scripts("echo $OLDEST_TORCH").strip(), VERSION]))


def run(
    *words: str | Path, folder: Path, path: Path | None = None, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs it, with the programs of `path` first, and nothing of the build that is tested."""
    environment = variables_of_user()
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**environment, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=2000,
        check=False,
    )


def as_ci_builds(path: str | None = None) -> list[str]:
    """The words before a command that builds OpGate, so that its ccache finds what ci/test has compiled.

    The tests' own cache is another one, and the compilers of ccache's names are others for ccache itself.
    Without a path, PATH is that of the tests.
    """
    parts = [part for part in (path or os.environ["PATH"]).split(os.pathsep) if Path(part).name != "ccache"]
    return ["env", "-u", "XDG_CACHE_HOME", f"PATH={os.pathsep.join(parts)}"]


def done(result: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert result.returncode == 0, f"{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
    return result


def pythons() -> list[str]:
    """Other Pythons of this machine for which the wheel has a binding, by their paths."""
    by_minor = dict(line.split(" ", 1) for line in _from_scripts("pythons_of_wheel").splitlines())
    return [path for minor, path in by_minor.items() if int(minor) != sys.version_info.minor]
