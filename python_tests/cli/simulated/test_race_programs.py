"""The tool `race` on programs whose verdicts are known: see fixtures/race_programs/README.md."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")

# The tool that must report a program of each verdict. None: `opgate sim` must find nothing.
FOUND_BY = {
    "clean": None,
    "racy": "race",
    "outside": "memory",
    "unfound": None,
    "accepted": None,
    "reported": "race",
}

# Some wrong programs of each kind, and their right twins.
FEW = [
    "graph/conditional-vertex/thread-int/plain-update",
    "graph/conditional-vertex/thread-int/right",
    "graph/conditional-vertex/warp-float/no-barrier",
    "graph/conditional-vertex/block-long/right",
    "graph/push/warp-float/plain-guard",
    "graph/push/warp-float/one-more",
    "graph/compression/thread-int/right",
    "graph/compression/thread-int/plain-accesses",
    "scopes/histogram/grid/block",
    "scopes/histogram/grid/block-then-device",
    "scopes/once/grid/right",
    "scopes/once/grid/relaxed-look",
    "locks/grid/right",
    "locks/grid/no-acquire",
    "locks/grid/no-release",
    "locks/block/fences-of-block",
    "locks/grid/fences-of-block",
    "locks/grid/tickets",
    "barriers/grid/right",
    "barriers/grid/no-fence-before",
    "barriers/grid/too-few",
    "barriers/last-block/right",
    "barriers/last-block/no-release",
    "message/signals/grid/release_elsewhere",
    "message/signals/grid/release_then_relaxed",
    "message/waits/grid/acquire_elsewhere",
    "message/waits/grid/relaxed_fence_release",
    "message/waits/grid/relaxed_fence_acquire",
    "message/scopes/cluster/release-acquire/cluster-cluster",
    "message/scopes/grid/release-acquire/cluster-gpu",
    "message/shared-memory/lanes/fence_volatile",
    "store-buffering/enter-alone/fence-sc",
    "load-buffering/readers/three-awaited",
    "load-buffering/readers/all-awaited",
    "independent-reads/grid/relaxed-fence-gpu",
    "independent-reads/grid/relaxed-cta",
    "coherence/seen-then-store/grid/by-load",
    "coherence/seen-then-store/grid/not-seen",
    "coherence/two-writers/one-releases",
    "read-modify-write/failed-swap/grid",
    "read-modify-write/swap/grid",
    "read-modify-write/last-resets/grid-gpu",
    "read-modify-write/release-sequence/grid/store",
    "read-modify-write/release-sequence/grid/addition",
    "chain/grid-block/gpu-cta",
    "chain/grid-block/cta-cta",
    "chain/block-grid/gpu-gpu-relaxed",
    "block/exchange/half-warps",
    "block/exchange/half-warps-across",
    "block/mbarrier/right",
    "block/mbarrier/relaxed-wait",
    "cluster/exchange/fence-relaxed",
    "cluster/exchange/fence-of-block-relaxed",
    "copies/bulk-store/right",
    "copies/bulk-store/no-proxy-fence",
]

SEEDS = (1, 25, 49)  # each run goes on with the next 23 as long as it finds nothing


@pytest.fixture(scope="session")
def program(build: Path) -> Path:
    return build / "bin" / "opgate_race_programs"


@pytest.fixture(scope="session")
def verdicts(program: Path) -> dict[str, str]:
    """For all programs, by their names."""
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    return dict(line.split("\t") for line in listed.splitlines())


@pytest.fixture
def judge(opgate: OpGate, program: Path, verdicts: dict[str, str], tmp_path: Path) -> Judge:
    return Judge(opgate, program, verdicts, tmp_path)


class Judge:
    def __init__(self, opgate: OpGate, program: Path, verdicts: dict[str, str], folder: Path) -> None:
        self.opgate, self.program, self.verdicts, self.folder = opgate, program, verdicts, folder

    def __call__(self, name: str, seed: int) -> str:
        """Runs a program. What is wrong with what `opgate sim` finds; empty if nothing is."""
        report = self.folder / f"{name.replace('/', ' ')}.jsonl"
        run = self.opgate(
            "sim", "--seed", str(seed), "--report", report, "--", self.program, name, timeout=120
        )
        tools = {json.loads(line)["tool"] for line in report.read_text().splitlines()} - {"start"}
        wanted = FOUND_BY[self.verdicts[name]]
        if "not simulated" in run.stderr:
            return f"{name}: {run.stderr}"
        is_right = (run.returncode, tools) == (0, set()) if wanted is None else wanted in tools
        return "" if is_right else f"{name} with seed {seed} is {self.verdicts[name]}: {run.stderr}"


@pytest.mark.parametrize("name", FEW)
def test_a_program_of_each_kind(judge: Judge, name: str) -> None:
    assert judge(name, 1) == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_all_programs(judge: Judge, verdicts: dict[str, str], seed: int) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        wrong = threads.map(lambda name: judge(name, seed), verdicts)
        assert [each for each in wrong if each] == []


def test_each_kind_has_programs_of_both_verdicts(verdicts: dict[str, str]) -> None:
    kinds = {name.partition("/")[0] for name in verdicts}
    for verdict in ("clean", "racy"):
        assert {name.partition("/")[0] for name, given in verdicts.items() if given == verdict} == kinds


def test_the_table_of_the_documentation(source: Path, verdicts: dict[str, str]) -> None:
    """`test_all_programs` fails if one of the figures is not reached."""
    counts = Counter((name.partition("/")[0], verdict) for name, verdict in verdicts.items())
    counts.update(("all", verdict) for verdict in verdicts.values())
    rows = []
    for kind in dict.fromkeys([*(name.partition("/")[0] for name in verdicts), "all"]):
        found = counts[kind, "racy"] + counts[kind, "outside"]
        racy = found + counts[kind, "accepted"] + counts[kind, "unfound"]
        silent = counts[kind, "clean"]
        name = kind if kind == "all" else f"`{kind}`"
        rows.append(f"| {name} | {found} of {racy} | {silent} of {silent + counts[kind, 'reported']} |")
    assert "\n".join(rows) in (source / "docs" / "simulator.md").read_text(), "\n".join(rows)
