"""The lines that a change has touched, so that only their mutants are made."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from opgate.request import UserError

FILE = re.compile(r"^\+\+\+ b/(.*)$")
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def changed_lines(root: Path, revision: str) -> dict[str, set[int]]:
    """The lines that differ from those of a git revision, by files relative to `root`.

    A file that git does not know yet has changed in all of its lines. Raises UserError where git cannot
    compare the project with this revision.
    """
    form = ("--unified=0", "--no-color", "--no-ext-diff", "--relative")
    compared = _git(root, revision, "diff", *form, revision, "--")
    lines: dict[str, set[int]] = {}
    file = ""
    for line in compared.splitlines():
        if named := FILE.match(line):
            file = named[1]
        elif hunk := HUNK.match(line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(file, set()).update(range(first, first + count))
    for name in _git(root, revision, "ls-files", "--others", "--exclude-standard").splitlines():
        content = (root / name).read_bytes()
        lines[name] = set(range(1, content.count(b"\n") + 2))
    return lines


def _git(root: Path, revision: str, *words: str) -> str:
    run = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        reason = [*run.stderr.strip().splitlines(), f"git {words[0]} failed"][0]
        raise UserError(f"--diff {revision}: {reason}")
    return run.stdout
