"""docs/reference is what ci/reference writes from the program and the headers; links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


def test_the_reference_pages_are_up_to_date(source: Path, build: Path) -> None:
    run = subprocess.run(
        [sys.executable, source / "ci" / "reference", "--check"],
        env={**os.environ, "OPGATE": str(build / "bin" / "opgate")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_links_between_pages_lead_somewhere(source: Path) -> None:
    pages = [source / "README.md", source / "CONTRIBUTING.md", *(source / "docs").rglob("*.md")]
    for page in pages:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
