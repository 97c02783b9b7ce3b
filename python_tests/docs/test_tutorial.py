"""docs/tutorial.md does what it says: its files are written, its commands run, their output is as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass
class Command:
    line: str
    expected: list[str] = field(default_factory=list)


def blocks(page: str) -> list[tuple[str, str]]:
    """The fenced blocks: the words after the opening fence, and the text."""
    return re.findall(r"^```([^\n]+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[Command]:
    found: list[Command] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        else:
            found[-1].expected.append(line)
    return found


def matches(expected: list[str], lines: list[str]) -> str | None:
    """Compares lines in order; "..." is any text in a line, or alone any lines. Returns what differs."""
    at = 0
    anywhere = False
    for wanted in expected:
        if wanted == "...":
            anywhere = True
            continue
        pattern = ".*".join(re.escape(part) for part in wanted.split("..."))
        candidates = range(at, len(lines)) if anywhere else range(at, min(at + 1, len(lines)))
        place = next((i for i in candidates if re.fullmatch(pattern, lines[i].rstrip())), None)
        if place is None:
            return wanted
        at, anywhere = place + 1, False
    return None


@pytest.mark.exhaustive
def test_the_tutorial_does_what_it_says(source: Path, build: Path, tmp_path: Path) -> None:
    folder = tmp_path / "an empty folder"
    folder.mkdir()
    path = f"{build / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    for word in ("PYTHONPATH", "PYTEST_ADDOPTS"):
        environment.pop(word, None)
    ran = 0
    for kind, text in blocks((source / "docs" / "tutorial.md").read_text()):
        if named := re.search(r"file=(\S+)", kind):
            file = folder / named[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        if not kind.startswith("console"):
            continue
        todo = commands(text)
        for command in todo:
            run = subprocess.run(
                ["bash", "-c", command.line],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=1800,
                check=False,
            )
            last = command is todo[-1]
            wanted = 1 if last and "status=1" in kind else 0
            assert run.returncode == wanted, f"$ {command.line}\n{run.stdout}"
            unmatched = matches(command.expected, run.stdout.splitlines())
            assert unmatched is None, f"$ {command.line}\nno line like: {unmatched}\n{run.stdout}"
            ran += 1
    assert ran > 12
