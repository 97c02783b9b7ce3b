"""The Markdown files that explain checks and rules: how they are read, and what the build refuses in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from opgate.judging.explanation import Explanation, ProseError, read_explanation

WHOLE = """# some.check

## Promise

A promise that takes
two lines.

## Why

Because of:

```cpp
# no heading
  f();
```

and more.

## Fix

Change it.

## Wrong

```cpp
int f() {

  return 1;
}
```

## Right

```cpp
int f() { return 2; }
```

## Example

One bug.

## Does not find

Some mistakes.
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "some_check.md"
    file.write_text(text)
    return file


def without(heading: str) -> str:
    """WHOLE without that section."""
    before, _, after = WHOLE.partition(f"## {heading}\n")
    _, follows, rest = after.partition("\n## ")
    return before + (follows[1:] + rest if follows else "")


def test_paragraphs_become_lines_and_code_is_kept(tmp_path: Path) -> None:
    assert read_explanation(written(tmp_path, WHOLE)) == Explanation(
        promise="A promise that takes two lines.",
        why="Because of:\n  # no heading\n    f();\nand more.",
        fix="Change it.",
        example="One bug.",
        wrong="int f() {\n\n  return 1;\n}",
        right="int f() { return 2; }",
        does_not_find="Some mistakes.",
    )


def test_what_a_check_does_not_find_may_be_left_out(tmp_path: Path) -> None:
    assert read_explanation(written(tmp_path, without("Does not find"))).does_not_find == ""


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        (WHOLE.replace("# some.check", "# some_check", 1), 1, "'# some.check'"),
        (WHOLE.replace("## Why", "## Reason"), 8, "unknown heading '## Reason'; there are Promise, Why"),
        (WHOLE.replace("## Why", "### Why"), 8, "unknown heading '### Why'"),
        (WHOLE.replace("## Why", "## Promise"), 8, "'## Promise' twice or too late"),
        (without("Fix"), 40, "the heading '## Fix' is missing"),
        (without("Right"), 23, "'## Wrong' needs '## Right'"),
        (without("Wrong"), 23, "'## Right' needs '## Wrong'"),
        (WHOLE.replace("Change it.\n", ""), 19, "nothing stands below '## Fix'"),
        (WHOLE.replace("```cpp\nint f() { return 2; }\n```", "Code."), 32, "must hold code"),
        (WHOLE + "```\n", 45, "has no end"),
        (WHOLE.replace("check\n", "check\nText.\n", 1), 2, "before the first heading"),
    ],
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, text: str, line: int, complaint: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ProseError) as error:
        read_explanation(file)
    assert str(error.value).startswith(f"{file}:{line}: ")
    assert complaint in str(error.value)


def embed(source: Path, folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Runs the build's script for these files."""
    (folder / "list.txt").write_text("".join(f"{file}\n" for file in files))
    command = [sys.executable, source / "cmake" / "embed_explanations.py", "list.txt", "written.cpp"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_build_embeds_what_explains_native_code(source: Path, tmp_path: Path) -> None:
    prose = written(tmp_path, WHOLE)
    run = embed(source, tmp_path, prose, tmp_path / "some_check.cpp")
    assert (run.returncode, run.stderr) == (0, "")
    text = (tmp_path / "written.cpp").read_text()
    assert 'if (id == "some.check")' in text
    assert '.why = R"text(Because of:\n  # no heading' in text
    embed(source, tmp_path, prose, tmp_path / "some_check.py")
    assert "some.check" not in (tmp_path / "written.cpp").read_text(), "the package reads it itself"


def test_the_build_refuses_code_without_prose_and_prose_without_code(source: Path, tmp_path: Path) -> None:
    code = tmp_path / "some_check.cpp"
    alone = embed(source, tmp_path, code)
    assert alone.returncode == 1
    assert f"{code}:1: some_check.md, which explains some.check, is missing" in alone.stderr
    prose = written(tmp_path, WHOLE)
    left = embed(source, tmp_path, prose)
    assert left.returncode == 1
    assert f"{prose}:1: no check or rule has this name" in left.stderr


def test_the_build_refuses_a_mistake_in_a_file(source: Path, tmp_path: Path) -> None:
    prose = written(tmp_path, WHOLE.replace("## Fix", "## Repair"))
    run = embed(source, tmp_path, prose, tmp_path / "some_check.py")
    assert run.returncode == 1
    assert run.stderr.startswith(f"{prose}:19: unknown heading '## Repair'")
