"""A self-contained HTML page: the defects, the table of checks, worst errors and the ledger's history."""

from __future__ import annotations

import math
import subprocess
from dataclasses import dataclass
from pathlib import Path

from opgate.judging.explanation import Explanation
from opgate.report.summary import Summary
from opgate.request import UserError

LEFT, RIGHT = 0.01, 10_000.0
"""The ends of the axis, in ulps."""
SHOWN_COMMITS = 20


@dataclass(frozen=True)
class WorstError:
    """A line of the plot: the worst error of an operator's check in one dtype, and the promised bound.

    `ulps` and `bound` are in ulps; `case` is the id of the case with the error.
    """

    label: str
    case: str
    ulps: float
    bound: float | None


@dataclass(frozen=True)
class Commit:
    """A commit that changed the accepted state."""

    date: str
    subject: str
    operators: list[str]


def on_axis(ulps: float) -> float:
    """Returns a position on the logarithmic axis, in per cent; values beyond an end are put at that end."""
    share = (math.log(max(ulps, LEFT)) - math.log(LEFT)) / (math.log(RIGHT) - math.log(LEFT))
    return round(100 * min(share, 1.0), 2)


def bound_of(accuracy: str | None) -> float | None:
    """Returns the number in "4 ulps scaled by inputs"; None for "exact" and where nothing is promised."""
    return None if accuracy in (None, "exact") else float(accuracy.split()[0])


def worst_errors(summary: Summary) -> list[WorstError]:
    """Returns one error for each operator, device, check and dtype; the nearest to its bound comes first."""
    errors = []
    for group in summary.groups.values():
        word = "gradient_accuracy" if group.check.startswith("grad.") else "accuracy"
        bound = bound_of(summary.header["subjects"].get(group.op, {}).get(word))
        for dtype, (ulps, case) in group.worst.items():
            errors.append(WorstError(f"{group.op} {group.device} {dtype} {group.check}", case, ulps, bound))
    return sorted(errors, key=lambda error: -error.ulps / (error.bound or error.ulps))


def history(ledger: Path | None) -> list[Commit]:
    """Returns the last commits that changed the ledger, newest first; none if it is not in a repository."""
    if ledger is None or not ledger.is_dir():
        return []
    form = "--format=%x00%cs%x01%s"
    command = ["git", "log", f"-{SHOWN_COMMITS}", form, "--name-only", "--", "."]
    try:
        told = subprocess.run(command, cwd=ledger, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):  # git is missing or does not answer
        return []
    commits = []
    for entry in told.stdout.split("\0")[1:]:
        head, *files = entry.strip().splitlines()
        date, _, subject = head.partition("\x01")
        commits.append(Commit(date, subject, [Path(file).stem.replace("--", "::") for file in files if file]))
    return commits


def page(summary: Summary, explanations: dict[str, Explanation], ledger: Path | None) -> str:
    """Returns the whole document, with every name in it escaped. Raises UserError without jinja2."""
    try:
        import jinja2
    except ImportError:
        raise UserError("--html needs the Python package jinja2: pip install jinja2") from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    checks = summary.checks()
    columns: dict[str, list[str]] = {}
    for check in checks:
        columns.setdefault(check.partition(".")[0], []).append(check)
    ticks = [(power, on_axis(10.0**power)) for power in range(-2, 5)]
    return environment.get_template("page.html.jinja").render(
        summary=summary,
        columns=columns,
        errors=worst_errors(summary),
        ticks=ticks,
        on_axis=on_axis,
        defects=[(defect, explanations.get(defect.check)) for defect in summary.defects],
        commits=history(ledger),
        broken=summary.count("fail", "crash", "timeout"),
    )
