"""`opgate report`: writes the results of a run as an HTML page, JUnit XML, SARIF, Markdown or annotations."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from opgate.judging.explanation import Explanation
from opgate.report.summary import read_summary
from opgate.request import UserError, asked, status_of


@dataclass(frozen=True)
class Request:
    """The results, the reports to write (empty where one is not asked for), and the folder of the ledger."""

    results: str
    html: str
    junit: str
    sarif: str
    markdown: str
    annotations: bool
    ledger: str


def write(file: Path, text: str) -> None:
    """Writes a report. Raises UserError if the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error


def explanations() -> dict[str, Explanation]:
    """Returns the explanation of every check, native and Python, by id."""
    from opgate import _engine
    from opgate.checks import load_checks

    native = {name: Explanation(**told) for name, told in json.loads(_engine.explanations()).items()}
    return native | {name: check.explanation for name, check in load_checks().items()}


def run(options: Request) -> None:
    """Writes the chosen reports. Raises UserError."""
    from opgate.report import annotations, junit, markdown, page, sarif

    if not (options.html or options.junit or options.sarif or options.markdown or options.annotations):
        raise UserError("no report was asked for: give --html, --junit, --sarif, --markdown or --annotations")
    summary = read_summary(Path(options.results))
    makers: list[tuple[str, Callable[[], str]]] = [
        (options.junit, lambda: junit.junit(summary)),
        (options.markdown, lambda: markdown.markdown(summary)),
        (options.sarif, lambda: sarif.sarif(summary, explanations())),
        (
            options.html,
            lambda: page.page(summary, explanations(), Path(options.ledger) if options.ledger else None),
        ),
    ]
    for file, make in makers:
        if file:
            write(Path(file), make())
            print(f"wrote {file}")
    if options.annotations:
        sys.stdout.write(annotations.annotations(summary))


if __name__ == "__main__":
    sys.exit(status_of(lambda: run(Request(**asked()))))
