"""Helpers of the tests: they run the program and read its results."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Completed = subprocess.CompletedProcess[str]

# The progress lines that a run of more than some seconds writes to stderr.
PROGRESS = re.compile(r" *\d+ % \||so far: ")
# Options for a run that takes seconds, because it uses no compiler and no exporter.
FAST = ["--check", "value", "effect", "fake", "--device", "cpu"]
# Options for a run of 19 cases: every dtype of one sample.
FASTEST = ["--check", "value.dtype", "--device", "cpu"]


@dataclass(frozen=True)
class OpGate:
    """Runs the program with an empty standard input, and captures both outputs."""

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
    defects: list[dict[str, Any]]

    def of(self, op: str) -> dict[str, dict[str, Any]]:
        """The verdicts of one operator."""
        return {case: line for case, line in self.cases.items() if case.startswith(f"{op}/")}

    def failing_checks(self, op: str) -> set[str]:
        """The checks for which some case of the operator did not pass."""
        return {case.rpartition("/")[2] for case, line in self.of(op).items() if line["verdict"] != "pass"}


def write_config(folder: Path, **settings: str | list[str]) -> None:
    """Writes an opgate.toml with these settings."""
    # Strings and lists of strings are written the same in JSON and in TOML.
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in settings.items()]
    (folder / "opgate.toml").write_text("".join(lines))


def git(folder: Path, *words: str) -> str:
    """Runs git in the folder, as an author with a name; returns what it prints."""
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", *author, *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def complaints(completed: Completed) -> list[str]:
    """The lines that the program wrote to stderr, without its progress."""
    return [line for line in completed.stderr.splitlines() if not PROGRESS.match(line)]


def read_results(output: Path) -> Results:
    """Reads results.jsonl in an output folder; every case must have one line."""
    lines = [json.loads(line) for line in (output / "results.jsonl").read_text().splitlines()]
    finished = lines.pop() if "finished" in lines[-1] else None
    verdicts = [line for line in lines if "case" in line]  # others are the header, facts of calls and defects
    cases = {line["case"]: line for line in verdicts}
    assert len(cases) == len(verdicts), "a case has two verdicts"
    defects = [line for line in lines if "defect" in line]
    return Results(lines[0], cases, finished, defects)


def wrong_operators(source: Path, library: str) -> set[str]:
    """The operators of a folder of fixtures/ that are wrong."""
    return set(json.loads((source / "fixtures" / "wrong_operators.json").read_text())[library])


def assert_refused(result: Completed, *fragments: str) -> str:
    """Expects exit status 2 and one line on stderr, besides progress, with all `fragments`; returns it."""
    lines = complaints(result)
    assert result.returncode == 2, result
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("opgate: ")
    assert "Traceback" not in lines[0]
    for fragment in fragments:
        assert fragment in lines[0]
    return lines[0]
