#!/usr/bin/env python3
"""Runs the test suites of libraries under `opgate sim`, and prints what came of each file of tests.

The tests of a suite run in several workers of pytest-xdist. A test that does not end in time, or whose
worker dies, costs itself. Tests that have an end are not run again, so that an interrupted run goes on where
it ended. A suite of programs has one test for each file, without pytest.

exit status: 0 all tests have an end, 2 wrong usage or set-up
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
LIMIT_OF_ONE_PROGRAM = 100


def run(*words: str | Path, folder: Path | None = None) -> None:
    """Raises SystemExit if the command fails."""
    if subprocess.run(words, cwd=folder, check=False).returncode != 0:
        raise SystemExit(2)


def prepare(name: str, suite: dict, place: Path, torch: str) -> tuple[Path, Path]:
    """The library's sources and an interpreter with what its tests need; kept for the next time."""
    sources, environment = place / name, place / f"{name}-environment"
    if not sources.exists():
        run("git", "clone", "-q", suite["repository"], sources)
        run("git", "checkout", "-q", suite["commit"], folder=sources)
    python = environment / "bin" / "python"
    if not python.exists():
        uv = [sys.executable, "-m", "uv"]
        run(*uv, "venv", "-q", environment)
        tools = ["pytest", "pytest-reportlog", "pytest-xdist", "pytest-timeout"]
        packages = [f"torch=={torch}", "numpy", *tools, *suite.get("requirements", [])]
        run(*uv, "pip", "install", "-q", "--compile-bytecode", "--python", python, *packages)
        if "tests" in suite:
            run(*uv, "pip", "install", "-q", "--no-deps", "--python", python, "-e", sources)
    return sources, python


class Tests:
    """What the tests of a suite came to, by file: kept in `ended.json` beside pytest's own output."""

    def __init__(self, results: Path) -> None:
        self.file = results / "ended.json"
        self.log = results / "log.jsonl"
        self.ended: dict[str, dict] = json.loads(self.file.read_text()) if self.file.exists() else {}

    def run(self, words: list[str], sources: Path, options: argparse.Namespace) -> None:
        """Those that have no end yet."""
        self.read_log()
        words = [
            *[*words, "-q", "-n", str(options.workers), "--dist", "loadfile", f"--report-log={self.log}"],
            *["--timeout", str(options.limit), "--timeout-method=thread", "-p", "with_little_time"],
        ]
        environment = os.environ | {
            "PYTHONPATH": str(HERE),
            "SUITE_ENDED": str(self.file),
            "SUITE_SECONDS_OF_A_FUNCTION": str(options.seconds_of_a_function),
        }
        try:
            ended = watch(words, sources, self.log.with_suffix(".txt"), environment=environment)
            print(f"the largest process had {ended.peak:.1f} GB; pytest's exit status is {ended.status}")
        finally:
            self.read_log()

    def read_log(self) -> None:
        """Adds to `ended` what pytest has logged, and removes the log."""
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            report = json.loads(line)
            if report.get("$report_type") == "TestReport":
                self.add(report)
        self.file.write_text(json.dumps(self.ended, indent=1))
        self.log.unlink(missing_ok=True)

    def add(self, report: dict) -> None:
        """One phase of one test."""
        words = words_of(report["longrepr"])
        kind = kind_of(report["outcome"], words, "wasxfail" in report)
        if any(title == "opgate sim" for title, _ in report.get("sections", [])):
            kind = "finding"
        entry = self.ended.setdefault(report["nodeid"], {"outcome": "passed", "seconds": 0.0, "words": ""})
        entry["seconds"] += report["duration"]
        if kind != "passed" and entry["outcome"] == "passed":
            entry.update(outcome=kind, words=words[-600:])

    def table(self) -> list[str]:
        """One line for each file."""
        by_file: dict[str, list[dict]] = defaultdict(list)
        for test, facts in self.ended.items():
            by_file[test.split("::")[0]].append(facts)
        return [f"{file}: {counted(tests)}" for file, tests in sorted(by_file.items())]


class Program:
    """A program that runs its own tests, and what it came to."""

    def __init__(self, file: Path, results: Path) -> None:
        self.file = file
        self.findings = results / f"{file.name}.findings"
        self.result = results / f"{file.name}.json"

    def run(self, sim: list[str], python: Path) -> None:
        """Until it ends, or for so many seconds."""
        self.findings.unlink(missing_ok=True)
        words = [*sim, "--report", str(self.findings), "--", str(python), str(self.file)]
        begin = time.monotonic()
        ended = watch(words, self.file.parent, self.result.with_suffix(".txt"), LIMIT_OF_ONE_PROGRAM)
        lines = self.findings.read_text().splitlines() if self.findings.exists() else []
        found = [json.loads(line) for line in lines]
        mistakes = [one for one in found if one["tool"] not in ("start", "schedule", "unsupported")]
        owed = [one for one in found if one["tool"] == "unsupported"]
        first = (mistakes or owed or [{}])[0]
        status = ended.status
        explained = f"{first['kernel']}: {first['message']}" if "kernel" in first else f"status {status}"
        outcome = "passed" if status == 0 else "owed" if owed else "failed"
        outcome = "no end" if not ended.in_time else "finding" if mistakes else outcome
        seconds = time.monotonic() - begin
        facts = {"outcome": outcome, "seconds": seconds, "peak_gb": ended.peak, "words": explained}
        self.result.write_text(json.dumps(facts, indent=1))


@dataclass
class Ended:
    """A process: its exit status, whether it ended by itself, and the GB of the largest that it started."""

    status: int
    in_time: bool
    peak: float


def watch(
    words: list[str],
    folder: Path,
    output: Path,
    limit: float = math.inf,
    environment: dict[str, str] | None = None,
) -> Ended:
    """Runs the command to its end or for so many seconds, and ends what it has started."""
    with output.open("ab") as file:
        process = subprocess.Popen(
            words, cwd=folder, stdout=file, stderr=file, env=environment, start_new_session=True
        )
    begin, peak, in_time = time.monotonic(), 0.0, True
    try:
        while process.poll() is None and in_time:
            time.sleep(0.5)
            peak = max(peak, largest_process(process.pid))
            in_time = time.monotonic() - begin < limit
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Ended(process.returncode, in_time, peak)


def counted(tests: list[dict]) -> str:
    """`3 passed, 1 owed; 17 s`."""
    counts = Counter(test["outcome"] for test in tests)
    kinds = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    return f"{kinds or 'no tests'}; {sum(test['seconds'] for test in tests):.0f} s"


def words_of(text: list | str | dict | None) -> str:
    """The message of a skip or of an exception."""
    if isinstance(text, list):
        return str(text[2]).removeprefix("Skipped: ")
    if isinstance(text, str):
        return text
    crash = (text or {}).get("reprcrash") or {}
    return str(crash.get("message", ""))


def kind_of(outcome: str, words: str, is_expected: bool) -> str:
    """The column of the table."""
    if words.startswith("left out: "):
        return "left out"
    if outcome == "skipped":
        return "xfailed" if is_expected else "owed" if words.startswith("owed: ") else "skipped"
    if "crashed while running" in words:
        return "no end"
    return "finding" if words.startswith("opgate sim: ") else outcome


def largest_process(process: int) -> float:
    """GB of the largest process among this one and those that it has started."""
    try:
        family = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    largest = 0
    for each in family:
        try:
            largest = max(largest, each.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
    return largest / 1e9


def main() -> None:
    """Reads the command line, runs the suites and prints the tables."""
    suites = tomllib.loads((HERE / "suites.toml").read_text())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"from {', '.join(suites)}; default: all")
    parser.add_argument(
        "--place", type=Path, default=Path("suites"), help="where sources and results are kept"
    )
    parser.add_argument("--opgate", default="opgate", help="the program")
    parser.add_argument("--torch", default="2.15.0")
    parser.add_argument("--workers", type=int, default=2, help="processes of pytest; default: %(default)s")
    parser.add_argument("--limit", type=int, default=100, help="seconds for a test; default: %(default)s")
    parser.add_argument(
        "--seconds-of-a-function",
        type=float,
        default=30,
        help="a test function that has taken so long gets no further parameters; default: %(default)s",
    )
    parser.add_argument("--tool", default="memory")
    parser.add_argument("-k", dest="chosen", default="", help="only files whose path contains this")
    options = parser.parse_args()
    for name in options.suites or suites:
        suite = suites[name]
        sources, python = prepare(name, suite, options.place.resolve(), options.torch)
        results = options.place.resolve() / f"{name}-results"
        results.mkdir(exist_ok=True)
        sim = [options.opgate, "sim", "--tool", options.tool, "--seconds", "0"]
        if "tests" in suite:
            left_out = suite.get("left_out", {})
            files = sorted(
                str(file.relative_to(sources))
                for folder in suite["tests"]
                for file in (sources / folder).rglob("test_*.py")
            )
            chosen = [file for file in files if options.chosen in file and file not in left_out]
            tests = Tests(results)
            arguments = ["-p", "no:cacheprovider", *suite.get("arguments", []), *chosen]
            tests.run([*sim, "--", str(python), "-m", "pytest", *arguments], sources, options)
            print("\n".join(tests.table()), flush=True)
            print(f"{name}: {counted(list(tests.ended.values()))}")
            continue
        for folder in suite["programs"]:
            for file in sorted((sources / folder).glob("*.py")):
                program = Program(file, results)
                if options.chosen not in file.name:
                    continue
                if not program.result.exists():
                    program.run(sim, python)
                facts = json.loads(program.result.read_text())
                print(
                    f"{file.name}: {facts['outcome']}; {facts['seconds']:.0f} s, {facts['peak_gb']:.1f} GB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
