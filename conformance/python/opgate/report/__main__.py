"""`opgate report`: writes the results of a run as an HTML page, JUnit XML, SARIF, Markdown or annotations."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from opgate.report.summary import ReportError, read_summary


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    options = argparse.ArgumentParser(
        prog="opgate report",
        description="Write the results of a run for people and for services. The exit status is 0 if every "
        "report was written, whatever the results are.",
    )
    options.add_argument(
        "results", nargs="?", type=Path, metavar="FILE", help="results.jsonl of a finished run"
    )
    options.add_argument("--html", type=Path, metavar="FILE", help="self-contained HTML page")
    options.add_argument(
        "--junit", type=Path, metavar="FILE", help="JUnit XML, one test for each operator, device and check"
    )
    options.add_argument("--sarif", type=Path, metavar="FILE", help="SARIF 2.1.0, for code scanning")
    options.add_argument(
        "--markdown", type=Path, metavar="FILE", help="Markdown, for a comment on a pull request"
    )
    options.add_argument(
        "--annotations", action="store_true", help="print ::error lines for a CI runner on stdout"
    )
    options.add_argument("--ledger", type=Path, metavar="FOLDER", help="the ledger, for its history")
    return options


def write(file: Path, text: str) -> None:
    """Writes a report. Raises ReportError if the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"cannot write {file}: {error.strerror}") from error


def run(options: argparse.Namespace) -> None:
    """Writes the chosen reports. Raises ReportError."""
    from opgate.report import annotations, junit, markdown, page, sarif
    from opgate.report.explanations import explanations

    if not (options.html or options.junit or options.sarif or options.markdown or options.annotations):
        raise ReportError(
            "no report was asked for: give --html, --junit, --sarif, --markdown or --annotations"
        )
    summary = read_summary(options.results)
    makers: list[tuple[Path | None, Callable[[], str]]] = [
        (options.junit, lambda: junit.junit(summary)),
        (options.markdown, lambda: markdown.markdown(summary)),
        (options.sarif, lambda: sarif.sarif(summary, explanations())),
        (options.html, lambda: page.page(summary, explanations(), options.ledger)),
    ]
    for file, make in makers:
        if file is not None:
            write(file, make())
            print(f"wrote {file}")
    if options.annotations:
        sys.stdout.write(annotations.annotations(summary))


def main() -> int:
    """Returns the exit status: 0, or 2 if a report could not be written."""
    options = parser().parse_args()
    try:
        run(options)
    except ReportError as error:
        print(f"opgate: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
