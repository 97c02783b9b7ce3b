"""Markdown for a pull request: the result of the gate, each defect in a collapsed section, and the table."""

from __future__ import annotations

import re
from html import escape

from opgate.report.summary import Summary, worst_of

LIMIT = 60_000
"""Characters; a comment on GitHub may have 65,536."""
MEANING = {"pass": "ok", "owed": "owed"}


def code(text: str) -> str:
    """Returns the text in a code block whose fence does not occur in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}\n"


def cell(text: str) -> str:
    """Returns the text for a cell of a table, with bars and markup escaped."""
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", " ".join(text.split()))


def gate_section(summary: Summary) -> list[str]:
    """Returns the lines that say what the gate found."""
    lines = []
    for kind, title in (("refused", "Refused"), ("better", "Better"), ("note", "Notes")):
        remarks = summary.remarks(kind)
        if not remarks:
            continue
        lines += [f"### {title}", ""]
        for remark in remarks:
            shown = f"<br>{cell(remark['shown'])}" if remark["shown"] else ""
            lines.append(f"- **{cell(remark['op'] or 'all')}** {cell(remark['what'])}{shown}")
        lines.append("")
    return lines


def table(summary: Summary) -> list[str]:
    """Returns the table of operators and devices by groups of checks; a cell has the worst verdict."""
    groups = sorted({check.partition(".")[0] for check in summary.checks()})
    lines = ["| | " + " | ".join(groups) + " |", "|---" * (len(groups) + 1) + "|"]
    for op, device in summary.rows():
        cells = []
        for name in groups:
            verdicts = [
                group.verdict
                for key, group in summary.groups.items()
                if key[:2] == (op, device) and group.check.partition(".")[0] == name
            ]
            worst = worst_of(verdicts)
            cells.append("." if worst is None else MEANING.get(worst, f"**{worst.upper()}**"))
        lines.append(f"| {cell(op)} {device} | " + " | ".join(cells) + " |")
    return lines


def markdown(summary: Summary) -> str:
    """Returns the whole comment, without the defects that do not fit into LIMIT."""
    broken = summary.count("fail", "crash", "timeout")
    verdict = (
        "refused" if summary.remarks("refused") else "broken promises" if broken else "all promises kept"
    )
    lines = [f"## OpGate: {verdict}", ""]
    lines += [
        f"{summary.count('pass')} passed, {broken} failed, {summary.count('owed')} owed"
        f" (torch {summary.header['torch']}, {summary.header['started']})",
        "",
    ]
    for words, count in summary.elsewhere.items():
        lines += [f"{count} passed by {words}", ""]
    lines += gate_section(summary)
    if summary.defects:
        lines += [f"### {len(summary.defects)} defect{'s' if len(summary.defects) > 1 else ''}", ""]
    for number, defect in enumerate(summary.defects):
        folded = ["<details>", f"<summary>{escape(defect.title)}</summary>", "", code(defect.text)]
        folded += ["</details>", ""]
        if sum(map(len, [*lines, *folded])) > LIMIT:
            lines.append(f"{len(summary.defects) - number} more defects do not fit into a comment.")
            break
        lines += folded
    return "\n".join([*lines, *table(summary), ""])
