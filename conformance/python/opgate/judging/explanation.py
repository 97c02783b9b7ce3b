"""What `opgate explain` prints about a check or a rule of the gate: the Markdown file beside its code.

The file value_layout.md begins with the title `# value.layout`. Below it, each heading of the second level is
one of HEADINGS, in their order, and no section is empty:

- In prose, the lines of a paragraph are one line of text. Code in a fence is kept as it is, indented.
- `Wrong` and `Right` hold one fence with code each. A file has both or neither.
- `Does not find` may be absent.
- `Script` may be absent, too. It holds one fence: the statements of `opgate repro --python` that show the
  broken promise with plain torch. `call` is the tested function, and `tensors` are its arguments. If another
  check has the same statements, it holds a link to that one's file alone.

cmake/embed_explanations.py reads the files of native checks and of rules when OpGate is built. It imports
this file alone, which therefore needs nothing else of the package.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Explanation:
    """The sections of one file; those that it lacks are empty."""

    promise: str
    why: str
    fix: str
    example: str
    wrong: str = ""
    right: str = ""
    does_not_find: str = ""
    script: str = ""


HEADINGS = ("Promise", "Why", "Fix", "Wrong", "Right", "Example", "Does not find", "Script")
"""The headings of a file. Each fills the field of Explanation of its name."""
NEEDED = ("Promise", "Why", "Fix", "Example")
CODE = ("Wrong", "Right")
CODE_ALONE = (*CODE, "Script")
SAME_SCRIPT = re.compile(r"\[(\w+\.md)\]\(\1\)")


class ProseError(Exception):
    """A file is not as described above. The message begins with `file:line:`, as a compiler's does."""


def id_of(file: Path) -> str:
    """The public id of the check or rule in this file: value.layout of value_layout.md."""
    return file.stem.replace("_", ".", 1)


def read_explanation(file: Path) -> Explanation:
    """Reads a file. Raises ProseError if it is missing, or is not as described above."""
    if not file.exists():
        raise ProseError(f"{file}:1: there is no such file: it explains {id_of(file)} to users")
    lines = file.read_text(encoding="utf-8").splitlines()
    if lines[:1] != [f"# {id_of(file)}"]:
        raise ProseError(f"{file}:1: the first line must be the title '# {id_of(file)}'")
    sections = _sections(file, lines)
    for heading in NEEDED:
        if heading not in sections:
            raise ProseError(f"{file}:{len(lines)}: the heading '## {heading}' is missing")
    for one, other in (CODE, CODE[::-1]):
        if one in sections and other not in sections:
            raise ProseError(f"{file}:{sections[one][0]}: '## {one}' needs '## {other}' as well")
    texts = {heading: _text(file, heading, begin, lines) for heading, (begin, lines) in sections.items()}
    return Explanation(**{heading.lower().replace(" ", "_"): text for heading, text in texts.items()})


def _sections(file: Path, lines: list[str]) -> dict[str, tuple[int, list[str]]]:
    """By heading: the number of its line, counted from 1, and the lines below it."""
    sections: dict[str, tuple[int, list[str]]] = {}
    in_code = False
    for number, line in enumerate(lines[1:], start=2):
        in_code ^= line.startswith("```")
        if in_code or not line.startswith("#"):
            if sections:
                sections[list(sections)[-1]][1].append(line)
            elif line:
                raise ProseError(f"{file}:{number}: text before the first heading")
            continue
        heading = line.removeprefix("## ")
        if heading not in HEADINGS:
            raise ProseError(f"{file}:{number}: unknown heading '{line}'; there are {', '.join(HEADINGS)}")
        if sections and HEADINGS.index(heading) <= HEADINGS.index(list(sections)[-1]):
            raise ProseError(
                f"{file}:{number}: '{line}' twice or too late; the order is {', '.join(HEADINGS)}"
            )
        sections[heading] = (number, [])
    if in_code:
        raise ProseError(f"{file}:{len(lines)}: the last code has no end")
    return sections


def _text(file: Path, heading: str, begin: int, lines: list[str]) -> str:
    """The text of a section: a line for each paragraph, and the lines of code, indented if there is prose."""
    text: list[str] = []
    code: list[str] = []
    in_code = in_paragraph = False
    for line in lines:
        if line.startswith("```"):
            in_code, in_paragraph = not in_code, False
        elif in_code:
            code.append(line)
            text.append(f"  {line}")
        elif not line.strip():
            in_paragraph = False
        elif in_paragraph:
            text[-1] += f" {line.strip()}"
        else:
            in_paragraph = True
            text.append(line.strip())
    if not text:
        raise ProseError(f"{file}:{begin}: nothing stands below '## {heading}'")
    if heading == "Script" and (same := SAME_SCRIPT.fullmatch("\n".join(text))):
        return read_explanation(file.with_name(same[1])).script
    if heading not in CODE_ALONE:
        return "\n".join(text)
    if len(code) != len(text):
        raise ProseError(f"{file}:{begin}: '## {heading}' must hold code, in a fence (```), and nothing else")
    return "\n".join(code)
