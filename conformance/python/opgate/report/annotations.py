"""Lines that GitHub's and compatible CI runners show beside the code: `::error file=...::message`."""

from __future__ import annotations

from opgate.report.summary import Summary


def escaped(text: str) -> str:
    """Escapes the message of an annotation."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """Escapes the value of one of an annotation's properties, such as its title."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")


def annotation(summary: Summary, op: str, title: str, message: str, level: str = "error") -> str:
    """Returns one line, which points to the operator's spec."""
    file, line = summary.where(op)
    place = f"file={escaped_property(file)},line={line}," if file else ""
    return f"::{level} {place}title={escaped_property(title)}::{escaped(message)}"


def annotations(summary: Summary) -> str:
    """Returns one line for each finding and for each reason why the gate refuses."""
    lines = []
    for group, case, said in summary.findings():
        message = f"{said.get('happened') or said['reason']}\nopgate repro '{case}'"
        level = "warning" if group.verdict == "invalid" else "error"
        title = f"{group.check}: {group.op} on {group.device}"
        lines.append(annotation(summary, group.op, title, message, level))
    for remark in summary.remarks("refused"):
        told = "\n".join(filter(None, [remark["what"], remark["shown"]]))
        lines.append(annotation(summary, remark["op"], f"gate: {remark['op']}", told))
    return "".join(line + "\n" for line in lines)
