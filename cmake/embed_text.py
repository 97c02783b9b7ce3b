"""The build runs this script: it writes a C++ source with the text of files.

embed_text.py SOURCE HEADER NAME FILE...

SOURCE defines NAME, which HEADER declares as `extern const char* const`, as the texts of the files, one after
the other.
"""

from __future__ import annotations

import sys
from pathlib import Path

SOURCE = """// Written by cmake/embed_text.py.
#include "{header}"

const char* const {name} =
{texts};
"""


def literal(text: str) -> str:
    """The text as a literal of C++, with its lines as they are."""
    if ')text"' in text:
        raise ValueError(f"this text would end its literal: {text}")
    return f'R"text({text})text"'


def main() -> None:
    """Writes the source."""
    source, header, name, *files = sys.argv[1:]
    texts = "\n".join(literal(Path(file).read_text(encoding="utf-8")) for file in files)
    Path(source).write_text(SOURCE.format(header=header, name=name, texts=texts), encoding="utf-8")


if __name__ == "__main__":
    main()
