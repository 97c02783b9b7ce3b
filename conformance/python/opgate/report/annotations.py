"""Lines that GitHub's and compatible CI runners show beside the code: `::error file=...::message`."""

from __future__ import annotations

from opgate.report.summary import Summary


def escaped(text: str) -> str:
    """Escapes the message of an annotation."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """Escapes the value of one of an annotation's properties, such as its title."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")


def annotation(at: tuple[str, int], title: str, message: str, level: str = "error") -> str:
    """Returns one line, which points to a file and a line where they are known."""
    file, line = at
    place = f"file={escaped_property(file)},line={line}," if file else ""
    return f"::{level} {place}title={escaped_property(title)}::{escaped(message)}"


def annotations(summary: Summary) -> str:
    """Returns one line for each defect and for each reason why the gate refuses."""
    lines = []
    for defect in summary.defects:
        message = f"{defect.cause}\n{defect.check}: {defect.seen}\nopgate repro '{defect.example}'"
        level = "warning" if defect.severity == "spec" else "error"
        lines.append(annotation(summary.place(defect), f"{defect.op} on {defect.device}", message, level))
    for remark in summary.remarks("refused"):
        told = "\n".join(filter(None, [remark["what"], remark["shown"]]))
        lines.append(annotation(summary.where(remark["op"]), f"gate: {remark['op']}", told))
    return "".join(line + "\n" for line in lines)
