"""Helpers: the program as a function, and its results as dicts."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Completed = subprocess.CompletedProcess[str]

# What a run that takes longer than some seconds says on stderr meanwhile.
PROGRESS = re.compile(r" *\d+ % \|")
# A run of these takes seconds: no compiler, no exporter.
FAST = ["--check", "value", "effect", "fake", "--device", "cpu"]
# A run of this has 19 cases: every dtype of one sample.
FASTEST = ["--check", "value.dtype", "--device", "cpu"]


@dataclass(frozen=True)
class OpGate:
    """Calls the program with standard input closed and both outputs in pipes."""

    program: Path
    folder: Path

    def __call__(
        self,
        *arguments: str | Path,
        folder: Path | None = None,
        environment: dict[str, str] | None = None,
        timeout: float = 1800,
    ) -> Completed:
        return subprocess.run(
            [str(self.program), *map(str, arguments)],
            cwd=folder or self.folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


@dataclass(frozen=True)
class Results:
    """A results.jsonl: its first line, the verdicts by case id, and the last line of a finished run."""

    header: dict[str, Any]
    cases: dict[str, dict[str, Any]]
    finished: dict[str, Any] | None

    def of(self, op: str) -> dict[str, dict[str, Any]]:
        """The verdicts of one operator."""
        return {case: line for case, line in self.cases.items() if case.startswith(f"{op}/")}

    def convicted(self, op: str) -> set[str]:
        """The checks that some case of the operator failed."""
        return {case.rpartition("/")[2] for case, line in self.of(op).items() if line["verdict"] != "pass"}


def write_config(folder: Path, **settings: str | list[str]) -> None:
    """Writes an opgate.toml of these settings."""
    # JSON's strings and lists of strings are TOML's, too.
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in settings.items()]
    (folder / "opgate.toml").write_text("".join(lines))


def complaints(completed: Completed) -> list[str]:
    """What the program said on stderr, besides its progress."""
    return [line for line in completed.stderr.splitlines() if not PROGRESS.match(line)]


def read_results(output: Path) -> Results:
    """Reads results.jsonl in an output folder; every case must have one line."""
    lines = [json.loads(line) for line in (output / "results.jsonl").read_text().splitlines()]
    finished = lines.pop() if "finished" in lines[-1] else None
    verdicts = [line for line in lines[1:] if "call" not in line]  # those are what calls returned
    cases = {line["case"]: line for line in verdicts}
    assert len(cases) == len(verdicts), "a case has two verdicts"
    return Results(lines[0], cases, finished)


def assert_refused(result: Completed, *fragments: str) -> str:
    """Exit 2 and one line on stderr, besides progress, that holds each of `fragments`; returns the line."""
    lines = complaints(result)
    assert result.returncode == 2, result
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("opgate: ")
    assert "Traceback" not in lines[0]
    for fragment in fragments:
        assert fragment in lines[0]
    return lines[0]
