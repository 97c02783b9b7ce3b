"""The build runs this script: it writes the C++ source that explains native checks and the gate's rules.

embed_explanations.py LIST SOURCE

LIST has one file on each line: those of the checks and rules, in C++ or Python, and the Markdown files beside
them. Each needs the other. The files of checks in Python are only looked through, because the package reads
them itself. The format is that of conformance/python/opgate/judging/explanation.py.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

# By its folder, because the package itself may need what is not built yet.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance" / "python" / "opgate" / "judging"))
sys.dont_write_bytecode = True
from embed_text import literal  # noqa: E402
from explanation import Explanation, ProseError, id_of, read_explanation  # noqa: E402

SOURCE = """// Written by cmake/embed_explanations.py from the Markdown files beside the checks and rules.
#include "base/explanation.h"

#include <stdexcept>

namespace opgate {{

Explanation embedded_explanation(std::string_view id) {{
{texts}
  throw std::logic_error("no Markdown file explains " + std::string(id) +
                         ": the files of a check or rule have its id for a name, with _ for the first dot");
}}

}}  // namespace opgate
"""


def returned(id: str, explanation: Explanation) -> str:  # noqa: A002 - the word that users see
    """The statement that returns this explanation."""
    texts = {field.name: getattr(explanation, field.name) for field in fields(Explanation)}
    given = [f"        .{name} = {literal(text)}," for name, text in texts.items() if text]
    return "\n".join([f'  if (id == "{id}")', "    return {", *given, "    };"])


def source(listed: list[Path]) -> str:
    """The C++ source for these files. Raises ProseError if one is wrong, or stands alone."""
    prose = {file for file in listed if file.suffix == ".md"}
    code = {file.with_suffix(".md"): file for file in listed if file.suffix != ".md"}
    for file in sorted(prose - code.keys()):
        raise ProseError(f"{file}:1: no check or rule has this name: there is no code beside it")
    for file in sorted(code.keys() - prose):
        raise ProseError(f"{code[file]}:1: {file.name}, which explains {id_of(file)}, is missing beside it")
    explained = {file: read_explanation(file) for file in sorted(code)}
    texts = [
        returned(id_of(file), explanation)
        for file, explanation in explained.items()
        if code[file].suffix == ".cpp"
    ]
    return SOURCE.format(texts="\n".join(texts))


def main() -> int:
    """Writes the source, or reports what is wrong with a file."""
    listed, written = map(Path, sys.argv[1:])
    try:
        written.write_text(source([Path(line) for line in listed.read_text().splitlines()]), encoding="utf-8")
    except ProseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
