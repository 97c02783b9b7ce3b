"""Each kind of operator library, from an empty folder: record, run, accept, a harmful change, gate."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import OpGate, read_results
from library_kinds import KINDS, Kind, static_python

pytestmark = pytest.mark.exhaustive


def build(folder: Path, kind: Kind, value: float) -> None:
    for stale in [*folder.glob("build"), *folder.glob("kinds/*.so"), *folder.glob("kinds/*.o")]:
        shutil.rmtree(stale) if stale.is_dir() else stale.unlink()
    kind.write(folder, value)
    for command in kind.build:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", KINDS)
def test_a_library_of_this_kind_is_recorded_run_and_gated(
    opgate: OpGate, tmp_path: Path, has_simulator: bool, name: str
) -> None:
    kind = KINDS[name]
    if kind.device == "cuda" and not has_simulator:
        pytest.skip("this build has no CUDA")
    folder = tmp_path / "my project"
    folder.mkdir()
    began = time.monotonic()
    build(folder, kind, 2.0)
    built = time.monotonic() - began
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    if kind.static:
        environment["OPGATE_PYTHON"] = static_python(tmp_path)
    (folder / "program.py").write_text(kind.program)

    simulated = ["--sim"] if kind.device == "cuda" else []
    recorded = opgate(
        "record", *simulated, "--", sys.executable, "program.py", folder=folder, environment=environment
    )
    assert recorded.returncode == 0, recorded
    assert "left out" not in recorded.stdout
    run = opgate("run", folder=folder, environment=environment)
    assert run.returncode == 0, run
    if kind.said:
        assert kind.said in run.stdout
    results = read_results(folder / ".opgate")
    place = "cpu" if kind.device == "cpu" else "sim"
    layouts = [line for case, line in results.cases.items() if case.endswith(f"/{place}/value.layout")]
    assert layouts
    assert {line["verdict"] for line in layouts} == {"pass"}
    workers = {log.stem for log in (folder / ".opgate").glob("worker-*.log")}
    assert ("worker-native" in workers) == (kind.runs == "native"), workers
    accepted = opgate("accept", folder=folder, environment=environment)
    assert accepted.returncode == 0, accepted

    build(folder, kind, 2.1)
    refused = opgate("gate", folder=folder, environment=environment)
    assert refused.returncode == 1, refused
    assert "value.changed" in refused.stdout or "values" in refused.stdout
    seconds = time.monotonic() - began
    rate = len(results.cases) / max(run_seconds(run.stdout), 0.1)
    line = f"| {name} | {kind.runs} | {built:.0f} | {seconds:.0f} | {rate:.0f} |\n"
    if table := os.environ.get("KINDS_TABLE"):  # for docs/adoption.md
        with open(table, "a") as stream:
            stream.write(line)


def run_seconds(printed: str) -> float:
    """From the last line of a run: "... in 3.9 s"."""
    return float(printed.strip().splitlines()[-1].rsplit(" in ", 1)[1].removesuffix(" s"))
