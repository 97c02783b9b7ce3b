"""No text makes someone install `opgate` by its bare name, which anyone could register on a package index."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

BY_NAME = re.compile(
    r"\b(?:pip|pip3|uv) (?:install|add)\b[^\n`]*[ '\"]opgate(?=[\[ '\"`=<>~]|$)(?! @| *\[\w*\] @)", re.M
)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("pip install opgate", True),
        ("run `pip install -q opgate` first", True),
        ("uv pip install 'opgate[all]>=0.1'", True),
        ("pip install opgate-0.1.0-py3-none-any.whl", False),
        ("pip install 'opgate[all] @ https://example.org/opgate.whl'", False),
        ("pip install cmake ninja, then `opgate engine build`", False),
    ],
)
def test_a_bare_name_is_seen(text: str, is_one: bool) -> None:
    assert bool(BY_NAME.search(text)) == is_one


def test_no_text_names_it_so(source: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=source, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        file = source / name
        if file == Path(__file__) or file.suffix not in (
            ".md",
            ".py",
            ".sh",
            ".yml",
            ".cpp",
            ".cmake",
            ".toml",
        ):
            continue
        found = BY_NAME.search(file.read_text())
        assert found is None, f"{name}: {found[0]}"
