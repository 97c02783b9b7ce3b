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


def run_many(build: Path, samples: int, jobs: int) -> Run:
    """Runs so many samples of an operator that costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin" / "opgate", "run", "--config", SOURCE / "fixtures" / "many" / "opgate.toml"]
        command += ["--output", folder, "--jobs", str(jobs), "--check", *ALWAYS_ON]
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
        header = json.loads((Path(folder) / "results.jsonl").open().readline())
        return Run(header["cases"], seconds, usage.ru_maxrss / 1024)


def many_cases(build: Path) -> None:
    """The cost of a case, and memory, for 10^3 to 10^6 cases; then two workers beside one."""
    nothing = run_many(build, 1, 1)
    print("| cases | us a case, one worker | us a case, two workers | ratio | largest process, MiB |")
    print("| --- | --- | --- | --- | --- |")
    for cases in (10**3, 10**4, 10**5, 10**6):
        samples = cases // nothing.cases
        runs = [run_many(build, samples, jobs) for jobs in (1, 2)]
        one, two = ((run.seconds - nothing.seconds) / run.cases * 1e6 for run in runs)
        largest = max(run.mebibytes for run in runs)
        print(f"| {runs[0].cases} | {one:.1f} | {two:.1f} | {one / two:.2f} | {largest:.0f} |", flush=True)
    print(f"\nStart and end of a run, taken off: {nothing.seconds:.1f} s, {nothing.mebibytes:.0f} MiB.")


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5, help="pairs of native and opcheck measurements")
    options = parser.parse_args()
    beside_opcheck(options.build, options.rounds)
    many_cases(options.build)


if __name__ == "__main__":
    main()
