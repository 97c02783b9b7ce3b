"""docs/tutorial.md: its files are written and its commands run, and their output is what the page shows.

If an output changes on purpose, `pytest python_tests/docs/test_tutorial.py --approve` writes the page again.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness import PROGRESS

BLOCK = re.compile(r"^```([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run, or from machine to machine, is shown as "...".
CHANGING = [
    (re.compile(r"\bin \d+\.\d+ ?s\b"), "in ... s"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:]+Z"), "..."),
    (re.compile(r"\b(OpGate|torch|Python) \d+\.\d+(\.\d+)?\S*"), r"\1 ..."),
]


class Tutorial:
    """An empty folder in which the commands of the page run, in order."""

    def __init__(self, folder: Path, build: Path) -> None:
        self.folder = folder
        places = [build / "bin", Path(sys.executable).parent, os.environ["PATH"]]
        self.environment = {**os.environ, "PATH": os.pathsep.join(map(str, places))}
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        for word in ("PYTHONPATH", "PYTEST_ADDOPTS"):
            self.environment.pop(word, None)
        self.ran = 0

    def block(self, match: re.Match[str]) -> str:
        """The block as it must be: a file is written, and commands are followed by what they print."""
        kind, text = match.groups()
        if named := re.search(r"file=(\S+)", kind):
            file = self.folder / named[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        if not kind.startswith("console"):
            return match[0]
        lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
        status = re.search(r"status=(\d)", kind)
        shown = []
        for line in lines:
            wanted = int(status[1]) if status and line is lines[-1] else 0
            shown += [f"$ {line}", *self.output(line, wanted)]
        return "\n".join([f"```{kind}", *shown, "```"])

    def output(self, line: str, status: int) -> list[str]:
        """What the command prints, without its progress."""
        run = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1800,
            check=False,
        )
        assert run.returncode == status, f"$ {line}\n{run.stdout}"
        self.ran += 1
        text = run.stdout.replace(str(self.folder), "/home/you/mine")
        for changing, word in CHANGING:
            text = changing.sub(word, text)
        lines = [one.rstrip() for one in text.strip("\n").splitlines() if not PROGRESS.match(one)]
        return lines


@pytest.mark.long
def test_the_tutorial_does_what_it_says(
    source: Path, build: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "an empty folder"
    folder.mkdir()
    page = source / "docs" / "tutorial.md"
    text = page.read_text()
    tutorial = Tutorial(folder, build)
    now = BLOCK.sub(tutorial.block, text)
    assert tutorial.ran > 12
    if request.config.getoption("--approve"):
        page.write_text(now)
    else:
        assert now.splitlines() == text.splitlines(), "review it, and write it with --approve"
