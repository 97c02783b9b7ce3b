#!/usr/bin/env python3
"""Runs the test suites of libraries under `opgate sim`, file by file, and prints what came of each test.

A file whose tests have an end is not run again, so that an interrupted run goes on where it ended. A test
that does not end in time, or whose process dies, costs itself: its file is run again without it. A suite of
programs has one for each file, without pytest.

exit status: 0 all tests have an end, 2 wrong usage or set-up
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
MOST_RUNS_OF_A_FILE = 40


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
        packages = [f"torch=={torch}", "numpy", "pytest", "pytest-reportlog", *suite.get("requirements", [])]
        run(*uv, "pip", "install", "-q", "--compile-bytecode", "--python", python, *packages)
        if "tests" in suite:
            run(*uv, "pip", "install", "-q", "--no-deps", "--python", python, "-e", sources)
    return sources, python


class File:
    """One file of tests, and what its tests came to: a JSON file beside pytest's own log."""

    def __init__(self, file: Path, sources: Path, results: Path) -> None:
        self.name = str(file.relative_to(sources))
        self.sources = sources
        self.log = results / (self.name.replace("/", "-") + ".log.jsonl")
        self.result = self.log.with_suffix("").with_suffix(".json")
        self.tests: dict[str, dict] = {}
        self.peak = 0.0

    def run(self, command: list[str], limit: float) -> None:
        """Until each test has an end."""
        begin = time.monotonic()
        status = 0
        for _ in range(MOST_RUNS_OF_A_FILE):
            self.log.unlink(missing_ok=True)
            without = [f"--deselect={test}" for test in self.tests]
            words = [*command, self.name, f"--report-log={self.log}", *without]
            ended_in_time, status, peak = watch(words, self.sources, self.log, limit)
            self.peak = max(self.peak, peak)
            running = self.read_log()
            if running is None:
                break
            end = f"no end in {limit:.0f} s" if not ended_in_time else f"the process died, status {status}"
            self.tests[running] = {"outcome": "no end", "seconds": limit, "words": end}
        seconds = time.monotonic() - begin
        facts = {"seconds": seconds, "peak_gb": self.peak, "status": status, "tests": self.tests}
        self.result.write_text(json.dumps(facts, indent=1))

    def read_log(self) -> str | None:
        """Notes how tests have ended. The test that was running, if there was one."""
        running = None
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            report = json.loads(line)
            if report.get("$report_type") != "TestReport":
                continue
            test, phase, outcome = report["nodeid"], report["when"], report["outcome"]
            running = None if phase == "teardown" else test
            entry = self.tests.setdefault(test, {"outcome": "passed", "seconds": 0.0, "words": ""})
            entry["seconds"] += report["duration"]
            if outcome != "passed":
                text = report["longrepr"]
                words = (
                    text[2] if isinstance(text, list) else text if isinstance(text, str) else last_words(text)
                )
                entry.update(outcome=kind_of(outcome, words, "wasxfail" in report), words=words[-600:])
            if any(title == "opgate sim" for title, _ in report.get("sections", [])):
                entry["outcome"] = "finding"
        return running


class Program:
    """A program that runs its own tests, and what it came to."""

    def __init__(self, file: Path, results: Path) -> None:
        self.name = file.name
        self.file = file
        self.findings = results / f"{file.name}.findings"
        self.result = results / f"{file.name}.json"

    def run(self, sim: list[str], python: Path, limit: float) -> None:
        """Until it ends, or for so many seconds."""
        begin = time.monotonic()
        self.findings.unlink(missing_ok=True)
        words = [*sim, "--report", str(self.findings), "--", str(python), str(self.file)]
        in_time, status, peak = watch(words, self.file.parent, self.result.with_suffix(""), limit)
        lines = self.findings.read_text().splitlines() if self.findings.exists() else []
        found = [json.loads(line) for line in lines]
        mistakes = [one for one in found if one["tool"] not in ("start", "schedule", "unsupported")]
        owed = [one for one in found if one["tool"] == "unsupported"]
        first = (mistakes or owed or [{}])[0]
        words = f"{first['kernel']}: {first['message']}" if "kernel" in first else f"status {status}"
        outcome = "passed" if status == 0 else "owed" if owed else "failed"
        outcome = "no end" if not in_time else "finding" if mistakes else outcome
        seconds = time.monotonic() - begin
        test = {"outcome": outcome, "seconds": seconds, "words": words}
        facts = {"seconds": seconds, "peak_gb": peak, "status": status, "tests": {self.name: test}}
        self.result.write_text(json.dumps(facts, indent=1))


def watch(words: list[str], folder: Path, log: Path, limit: float) -> tuple[bool, int, float]:
    """Whether it ended before its log had not grown for so many seconds, its status, and its peak in GB."""
    with log.with_suffix(".txt").open("ab") as output:
        process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=output, start_new_session=True)
    size, since, peak = 0, time.monotonic(), 0.0
    try:
        while process.poll() is None:
            time.sleep(0.5)
            peak = max(peak, memory_of(process.pid))
            now = log.stat().st_size if log.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
            if time.monotonic() - since > limit:
                return False, -signal.SIGKILL, peak
        return True, process.returncode, peak
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def last_words(text: dict | None) -> str:
    """The message of an exception."""
    crash = (text or {}).get("reprcrash") or {}
    return str(crash.get("message", ""))


def kind_of(outcome: str, words: str, is_expected: bool) -> str:
    """The column of the table."""
    if outcome == "skipped":
        return "xfailed" if is_expected else "owed" if "owed: " in words else "skipped"
    return "finding" if words.startswith("opgate sim: ") else outcome


def memory_of(process: int) -> float:
    """GB that the process and what it has started take, shared memory once for each."""
    total = 0
    try:
        family = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    for each in family:
        try:
            total += each.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 1e9


def files_of(suite: dict, sources: Path) -> list[Path]:
    """Its files of tests, or its programs."""
    if "programs" in suite:
        return sorted(file for folder in suite["programs"] for file in (sources / folder).glob("*.py"))
    return sorted(file for folder in suite["tests"] for file in (sources / folder).rglob("test_*.py"))


def main() -> None:
    """Reads the command line, runs the suites and prints the table."""
    suites = tomllib.loads((HERE / "suites.toml").read_text())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"from {', '.join(suites)}; default: all")
    parser.add_argument(
        "--place", type=Path, default=Path("suites"), help="where sources and results are kept"
    )
    parser.add_argument("--opgate", default="opgate", help="the program")
    parser.add_argument("--torch", default="2.15.0")
    parser.add_argument("--limit", type=float, default=100, help="seconds without the end of a test")
    parser.add_argument("--tool", default="memory")
    parser.add_argument("-k", dest="chosen", default="", help="only files whose path contains this")
    options = parser.parse_args()
    for name in options.suites or suites:
        suite = suites[name]
        sources, python = prepare(name, suite, options.place.resolve(), options.torch)
        results = options.place.resolve() / f"{name}-results"
        results.mkdir(exist_ok=True)
        sim = [options.opgate, "sim", "--tool", options.tool, "--seconds", "0"]
        arguments = ["-q", "-p", "no:cacheprovider", *suite.get("arguments", [])]
        left_out = suite.get("left_out", {})
        for path in files_of(suite, sources):
            file = Program(path, results) if "programs" in suite else File(path, sources, results)
            if options.chosen not in file.name or file.name in left_out:
                continue
            if file.result.exists():
                pass
            elif isinstance(file, Program):
                file.run(sim, python, options.limit)
            else:
                file.run([*sim, "--", str(python), "-m", "pytest", *arguments], options.limit)
            facts = json.loads(file.result.read_text())
            counts = Counter(test["outcome"] for test in facts["tests"].values())
            shown = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
            print(
                f"{file.name}: {shown or 'no tests'}; {facts['seconds']:.0f} s, {facts['peak_gb']:.1f} GB",
                flush=True,
            )


if __name__ == "__main__":
    main()
