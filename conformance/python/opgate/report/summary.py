"""What a report tells of a run: results.jsonl read line by line, and gate.json beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BROKEN = ("fail", "crash", "timeout")
BY_EVIDENCE = "evidence: "
"""The reason of a verdict that another machine gave begins so."""


class ReportError(Exception):
    """Something that the user must mend; the message is one line."""


@dataclass
class Group:
    """The cases of one operator, device and check."""

    op: str
    device: str
    check: str
    counts: dict[str, int] = field(default_factory=dict)
    worst: dict[str, tuple[float, str]] = field(default_factory=dict)
    """By dtype: error in ulps, and the case."""
    example: tuple[str, dict[str, Any]] | None = None
    """The first case that is neither pass nor owed, and what was said of it."""
    owed: str = ""
    """Why cases of it are owed."""
    elsewhere: str = ""
    """The machine and the day that its verdicts are from, where they are from another one."""

    @property
    def verdict(self) -> str:
        """The worst of its cases: crash, fail, invalid, owed or pass."""
        for verdict in ("crash", "timeout", "fail", "invalid", "owed"):
            if self.counts.get(verdict):
                return verdict
        return "pass"

    @property
    def broken(self) -> int:
        """Cases that broke their promise."""
        return sum(self.counts.get(verdict, 0) for verdict in BROKEN)

    @property
    def others(self) -> int:
        """Cases like the example, besides it."""
        return self.broken + self.counts.get("invalid", 0) - 1

    @property
    def text(self) -> str:
        """As in the table of `opgate run`: "ok", "FAIL 3", "owed"."""
        passed = "ok*" if self.elsewhere else "ok"
        words = {"pass": passed, "owed": "owed", "invalid": f"spec? {self.counts.get('invalid')}"}
        return words.get(self.verdict) or f"{'CRASH' if self.verdict == 'crash' else 'FAIL'} {self.broken}"


@dataclass
class Summary:
    """A whole run, and what the gate said of it, if it was asked."""

    header: dict[str, Any]
    groups: dict[tuple[str, str, str], Group]
    owed: dict[str, int]
    """By reason."""
    elsewhere: dict[str, int]
    """Cases that passed on another machine, by the words that say which."""
    finished: str
    gate: dict[str, Any] | None = None

    def count(self, *verdicts: str) -> int:
        """Cases with one of these verdicts."""
        return sum(group.counts.get(verdict, 0) for group in self.groups.values() for verdict in verdicts)

    def remarks(self, kind: str) -> list[dict[str, Any]]:
        """What the gate said, of a kind: "refused", "better", "note"; nothing where it was not asked."""
        said = self.gate["remarks"] if self.gate else []
        return [remark for remark in said if remark["kind"] == kind]

    def findings(self) -> list[tuple[Group, str, dict[str, Any]]]:
        """The groups with something to mend, in the order of the table: each with a case and its line."""
        return [(group, *group.example) for _, group in sorted(self.groups.items()) if group.example]

    def rows(self) -> list[tuple[str, str]]:
        """Operators and devices, in order."""
        return sorted({(op, device) for op, device, _ in self.groups})

    def checks(self) -> list[str]:
        """Ids of those that looked at something, in order."""
        return sorted({check for _, _, check in self.groups})

    def where(self, op: str) -> tuple[str, int]:
        """File and line of the operator's spec; the file is relative to the working directory, if in it."""
        file, _, line = self.header["subjects"].get(op, {}).get("where", "").rpartition(":")
        if not line.isdigit():
            return "", 0
        path = Path(file)
        return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path), int(line)


def read_summary(results: Path) -> Summary:
    """Reads a finished run. Raises ReportError for a file that is none, naming the line."""
    lines = _lines(results)
    header = next(lines, None)
    if header is None or "plan" not in header or "subjects" not in header:
        raise ReportError(f"{results} is no results file of this version of OpGate")
    summary = Summary(header, {}, {}, {}, "")
    for line in lines:
        if "case" in line:
            _take(summary, line)
        elif "finished" in line:
            summary.finished = line["finished"]
    if not summary.finished:
        raise ReportError(f"{results} is unfinished; complete it with `opgate run --resume`")
    gate = results.parent / "gate.json"
    if gate.exists():
        said = json.loads(gate.read_text())
        if said["started"] == header["started"]:  # of this run, and not of one before
            summary.gate = said
    return summary


def _lines(results: Path) -> Iterator[dict[str, Any]]:
    try:
        with results.open(encoding="utf-8") as stream:
            for number, text in enumerate(stream, 1):
                try:
                    yield json.loads(text)
                except json.JSONDecodeError as error:
                    raise ReportError(
                        f"{results}:{number}: not a line of OpGate's results: {error}"
                    ) from error
    except OSError as error:
        raise ReportError(f"cannot read {results}: {error.strerror}") from error


def _take(summary: Summary, line: dict[str, Any]) -> None:
    case, verdict = line["case"], line["verdict"]
    op, dtype, _, _, device, check = case.split("/")
    key = (op, device, check)
    group = summary.groups.get(key)
    if group is None:
        group = summary.groups[key] = Group(op, device, check)
    group.counts[verdict] = group.counts.get(verdict, 0) + 1
    ulps = line.get("ulps", 0.0)
    if ulps and ulps > group.worst.get(dtype, (0.0, ""))[0]:
        group.worst[dtype] = (ulps, case)
    if verdict == "owed":
        group.owed = line["reason"]
        summary.owed[line["reason"]] = summary.owed.get(line["reason"], 0) + 1
    elif verdict == "pass" and line.get("reason", "").startswith(BY_EVIDENCE):
        group.elsewhere = line["reason"]
        summary.elsewhere[line["reason"]] = summary.elsewhere.get(line["reason"], 0) + 1
    elif verdict != "pass" and group.example is None:
        group.example = (case, line)
