"""Markdown for a pull request: what the gate says first, then the table, then each finding folded away."""

from __future__ import annotations

import re
from html import escape

from opgate.finding import finding_text
from opgate.report.summary import Summary

LIMIT = 60_000
"""Characters: what a comment may be long, with room to spare."""
MEANING = {"pass": "ok", "owed": "owed"}


def code(text: str) -> str:
    """Text in a code block that nothing in it can end."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}\n"


def cell(text: str) -> str:
    """Text in a table: neither its bars nor its markup count."""
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", " ".join(text.split()))


def gate_section(summary: Summary) -> list[str]:
    """What the gate said."""
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
    """Operators and devices by groups of checks."""
    groups = sorted({check.partition(".")[0] for check in summary.checks()})
    lines = ["| | " + " | ".join(groups) + " |", "|---" * (len(groups) + 1) + "|"]
    order = ("crash", "timeout", "fail", "invalid", "owed", "pass")
    for op, device in summary.rows():
        cells = []
        for name in groups:
            verdicts = [
                group.verdict
                for key, group in summary.groups.items()
                if key[:2] == (op, device) and group.check.partition(".")[0] == name
            ]
            worst = next((verdict for verdict in order if verdict in verdicts), None)
            cells.append("." if worst is None else MEANING.get(worst, f"**{worst.upper()}**"))
        lines.append(f"| {cell(op)} {device} | " + " | ".join(cells) + " |")
    return lines


def markdown(summary: Summary) -> str:
    """The whole comment, cut where a comment may be no longer."""
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
    lines += [*table(summary), ""]
    for group, case, said in summary.findings():
        title = f"{group.check} · {group.op} · {group.device}: {group.text}"
        lines += ["<details>", f"<summary>{escape(title)}</summary>", "", code(finding_text(case, said))]
        lines += ["</details>", ""]
        if sum(map(len, lines)) > LIMIT:
            lines.append("More findings than a comment can hold; see results.jsonl.")
            break
    return "\n".join(lines) + "\n"
