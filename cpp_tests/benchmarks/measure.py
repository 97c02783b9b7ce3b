"""Prints what docs/limits.md says of speed: ratios, side by side in one run. Called by ci/measure."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch

SOURCE = Path(__file__).resolve().parents[2]
ALWAYS_ON = [
    "effect.alias",
    "effect.mutation",
    "effect.state",
    "fake.metadata",
    "memory.bounds",
    "memory.uninitialised",
    "value.reference",
    "value.layout",
]
# What a run has beside those, without run.threads, which takes all cores itself.
NATIVE = [
    "effect",
    "error",
    "fake",
    "memory.bounds",
    "memory.uninitialised",
    "memory.lifetime",
    "memory.leak",
]
NATIVE += ["registration", "value.reference", "value.layout", "value.empty"]


@dataclass(frozen=True)
class Run:
    """One `opgate run`: its cases, its seconds without those of an almost empty run, its largest process."""

    cases: int
    seconds: float
    mebibytes: float


def judged_calls(build: Path) -> dict[str, float]:
    """Microseconds of CPU for one call with all judges that are always on, by variant."""
    command = [
        build / "bin" / "opgate_benchmarks",
        "--benchmark_filter=one judged call",
        "--benchmark_format=json",
    ]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {entry["name"].split("/")[0]: entry["cpu_time"] for entry in json.loads(told)["benchmarks"]}


def opcheck_sample() -> float:
    """Microseconds of CPU for one warm torch.library.opcheck of the same operator and shape."""
    x = torch.ones(32, 32)
    start = time.process_time()
    torch.library.opcheck(torch.ops.opgate_ops.identity_conv.default, (x,))
    return (time.process_time() - start) * 1e6


def beside_opcheck(build: Path, rounds: int) -> None:
    """One judged native call beside one opcheck sample, turn by turn."""
    torch.ops.load_library(build / "lib" / "libopgate_ops.so")
    opcheck_sample()  # the first one imports half of torch
    pairs = [
        (judged_calls(build), statistics.median(opcheck_sample() for _ in range(9))) for _ in range(rounds)
    ]
    print("| judged call, 4 KiB float32 | us | judged calls/s | for one opcheck sample |")
    print("| --- | --- | --- | --- |")
    for variant in pairs[0][0]:
        native = statistics.median(pair[0][variant] for pair in pairs)
        ratios = sorted(pair[1] / pair[0][variant] for pair in pairs)
        spread = f"{statistics.median(ratios):.0f} ({ratios[0]:.0f} to {ratios[-1]:.0f})"
        print(f"| {variant} | {native:.1f} | {1e6 / native:.0f} | {spread} |")
    print(
        f"\nOne opcheck sample: {statistics.median(pair[1] for pair in pairs) / 1000:.1f} ms.\n", flush=True
    )


def run_many(build: Path, samples: int, jobs: int, checks: list[str]) -> Run:
    """Runs so many samples of an operator that costs next to nothing."""
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin" / "opgate", "run", "--config", SOURCE / "fixtures" / "many" / "opgate.toml"]
        command += ["--output", folder, "--jobs", str(jobs), "--check", *checks]
        with (Path(folder) / "printed").open("w+") as printed:
            start = time.monotonic()
            process = subprocess.Popen(
                command,
                env={**os.environ, "OPGATE_MANY": str(samples)},
                stdout=printed,
                stderr=subprocess.DEVNULL,
            )
            _, status, usage = os.wait4(process.pid, 0)  # of the largest of it and its workers
            seconds = time.monotonic() - start
            printed.seek(0)
            text = printed.read()
        if status != 0:
            raise SystemExit(text)
        with (Path(folder) / "results.jsonl").open() as results:
            header = json.loads(results.readline())
        return Run(header["cases"], seconds, usage.ru_maxrss / 1024)


def many_cases(build: Path, rounds: int) -> None:
    """The cost of a case, and memory, for 10^3 to 10^6 cases."""
    nothing = run_many(build, 1, 1, ALWAYS_ON)
    print("| cases | s in all | us a case | largest process, MiB |\n| --- | --- | --- | --- |")
    for cases in (10**3, 10**4, 10**5, 10**6):
        runs = [run_many(build, cases // nothing.cases, 1, ALWAYS_ON) for _ in range(rounds)]
        seconds = statistics.median(run.seconds for run in runs)
        each = (seconds - nothing.seconds) / runs[0].cases * 1e6
        largest = max(run.mebibytes for run in runs)
        print(f"| {runs[0].cases} | {seconds:.1f} | {each:.1f} | {largest:.0f} |", flush=True)
    print(f"\nStart and end of a run, taken off: {nothing.seconds:.1f} s, {nothing.mebibytes:.0f} MiB.\n")


def two_workers(build: Path, rounds: int) -> None:
    """Two workers beside one, turn by turn."""
    ratios = []
    for _ in range(rounds):
        nothing, one, two = (
            run_many(build, samples, jobs, NATIVE) for samples, jobs in ((1, 1), (15000, 1), (15000, 2))
        )
        ratios.append((one.seconds - nothing.seconds) / (two.seconds - nothing.seconds))
    ratios.sort()
    spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    print(
        f"Two workers beside one, {one.cases} cases of {len(NATIVE)} kinds of checks: {spread} times as fast."
    )


def timed(step: str, command: list[str | Path], environment: dict[str, str]) -> None:
    """Runs it and prints its time and the memory of its largest process."""
    with tempfile.TemporaryFile("w+") as printed:
        start = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=printed)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        printed.seek(0)
        if status != 0:
            raise SystemExit(printed.read())
    print(f"| {step} | {seconds:.1f} | {usage.ru_maxrss / 1024:.0f} |", flush=True)


def a_million(build: Path) -> None:
    """What is done with a plan of a million cases, from listing it to the page of its results."""
    opgate = build / "bin" / "opgate"
    configuration = ["--config", SOURCE / "fixtures" / "many" / "opgate.toml"]
    checks = ["--check", *ALWAYS_ON]
    environment = {**os.environ, "OPGATE_MANY": str(10**6 // run_many(build, 1, 1, ALWAYS_ON).cases)}
    print("\n| a million cases | s | largest process, MiB |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed("plan and list", [opgate, "list", "cases", *configuration, *checks], environment)
        shards = [folder / f"shard-{number}" for number in range(1, 5)]
        for number, shard in enumerate(shards, 1):
            words = ["--shard", f"{number}/4", "--output", shard]
            timed(f"shard {number} of 4", [opgate, "run", *configuration, *checks, *words], environment)
        merged = folder / "merged" / "results.jsonl"
        results = [shard / "results.jsonl" for shard in shards]
        timed("merge", [opgate, "merge", *results, "--output", merged.parent], environment)
        words = ["--shard", "1/4", "--costs", merged]
        by_cost = [opgate, "list", "cases", *configuration, *checks, *words]
        timed("a shard by cost, listed", by_cost, environment)
        gate = [opgate, "gate", *configuration, "--base", merged.parent, "--results", merged]
        timed("gate, with a run for its base", gate, environment)
        files = [
            *("--html", folder / "page.html", "--junit", folder / "junit.xml"),
            *("--sarif", folder / "out.sarif", "--markdown", folder / "comment.md"),
        ]
        timed("report, in four forms", [opgate, "report", *configuration, merged, *files], environment)


def main() -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3, help="how often each pair is measured")
    options = parser.parse_args()
    beside_opcheck(options.build, options.rounds)
    many_cases(options.build, options.rounds)
    two_workers(options.build, options.rounds)
    a_million(options.build)


if __name__ == "__main__":
    main()
