"""The contents of a report: results.jsonl, read line by line, and gate.json beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opgate.calls.case_id import CaseId
from opgate.request import UserError

BROKEN = ("fail", "crash", "timeout")


WORST_FIRST = ("crash", "timeout", "fail", "invalid", "owed", "pass")


def worst_of(verdicts: Collection[str]) -> str | None:
    """The worst of these verdicts; None if there is none."""
    return next((verdict for verdict in WORST_FIRST if verdict in verdicts), None)


@dataclass
class Group:
    """The cases of one operator, device and check."""

    op: str
    device: str
    check: str
    counts: Counter[str] = field(default_factory=Counter)
    worst: dict[str, tuple[float, str]] = field(default_factory=dict)
    """By dtype: the worst error in ulps, and the id of its case."""
    text: str = ""
    """The cell in the table of `opgate run`: "ok", "FAIL 3", "owed"."""
    finding: str = ""
    """The text of the first case that is neither pass nor owed; empty if there is none."""
    owed: str = ""
    """Why cases of the group are owed (not run on this machine); empty if none are."""
    elsewhere: str = ""
    """The machine and the day of the verdicts, if another machine gave them; empty otherwise."""

    @property
    def verdict(self) -> str:
        """The worst verdict of its cases: crash, timeout, fail, invalid, owed or pass."""
        return worst_of(self.counts) or "pass"

    @property
    def broken(self) -> int:
        """The number of cases that broke their promise."""
        return sum(self.counts[verdict] for verdict in BROKEN)

    @property
    def others(self) -> int:
        """The number of cases that broke their promise or have a wrong spec, besides that of the finding."""
        return self.broken + self.counts["invalid"] - 1


@dataclass
class Defect:
    """What several broken cases have as their cause, as the run has sorted them; see defects/defect.h."""

    id: str
    op: str
    device: str
    severity: str
    cause: str
    example: str
    """The case that shows it best."""
    finding: str
    """The text of the finding of the example."""
    said: dict[str, Any]
    """The line of the example in results.jsonl."""
    checks: dict[str, int]
    """The number of broken cases of each check."""
    rows: frozenset[tuple[str, str, str]]
    """Operator, device and check of its cases; those of other operators are of some that call this one."""

    @property
    def check(self) -> str:
        """The check of the example."""
        return CaseId.of(self.example).check

    @property
    def title(self) -> str:
        """A line for lists: "row_scale on cpu: `x` is read as if it were dense"."""
        return f"{self.op} on {self.device}: {self.cause}"

    @property
    def seen(self) -> str:
        """What happened in the example."""
        return str(self.said.get("happened") or self.said["reason"])

    @property
    def cases(self) -> str:
        """How many cases each check has: "12: value.layout 8, memory.bounds 4"."""
        most = sorted(self.checks.items(), key=lambda check: -check[1])
        return f"{sum(self.checks.values())}: {', '.join(f'{check} {count}' for check, count in most)}"

    @property
    def text(self) -> str:
        """The finding of the example, and the number of cases."""
        text = f"{self.finding}\n  cases      {self.cases}"
        callers = sorted({op for op, _, _ in self.rows} - {self.op})
        return f"{text}\n  also       {', '.join(callers)}, by calling it" if callers else text

    @property
    def source(self) -> tuple[str, int]:
        """Where the operator crashed or misread an argument: file and line; "" and 0 if unknown."""
        for call in self.said.get("stack", []):
            file, _, line = call.partition(" at ")[2].rpartition(":")
            if line.isdigit():
                return file, int(line)
        return "", 0


@dataclass
class Summary:
    """A whole run, and what the gate said about it, if `opgate gate` was run."""

    header: dict[str, Any]
    groups: dict[tuple[str, str, str], Group]
    owed: Counter[str]
    """The number of owed cases, by reason."""
    elsewhere: Counter[str]
    """The number of cases that passed on another machine, by the text that names the machine."""
    finished: str
    defects: list[Defect] = field(default_factory=list)
    """The most severe first."""
    gate: dict[str, Any] | None = None

    def count(self, *verdicts: str) -> int:
        """Returns the number of cases with one of these verdicts."""
        return sum(group.counts[verdict] for group in self.groups.values() for verdict in verdicts)

    @property
    def has_reference(self) -> bool:
        """Whether the spec of any operator has a reference, so that results were compared with one."""
        return any(subject.get("reference") for subject in self.header["subjects"].values())

    def remarks(self, kind: str) -> list[dict[str, Any]]:
        """Returns the gate's remarks of one kind ("refused", "better" or "note"); none if it was not run."""
        said = self.gate["remarks"] if self.gate else []
        return [remark for remark in said if remark["kind"] == kind]

    def defect_of(self, op: str, device: str, check: str) -> Defect:
        """Returns the first defect that the check sees; there is one if the check has broken cases."""
        return next(defect for defect in self.defects if (op, device, check) in defect.rows)

    def rows(self) -> list[tuple[str, str]]:
        """Returns the pairs of operator and device, in order."""
        return sorted({(op, device) for op, device, _ in self.groups})

    def checks(self) -> list[str]:
        """Returns the ids of the checks that have cases, in order."""
        return sorted({check for _, _, check in self.groups})

    def place(self, defect: Defect) -> tuple[str, int]:
        """Returns where the operator crashed, or otherwise the place of its spec, as where() does."""
        return defect.source if defect.source[0] else self.where(defect.op)

    def where(self, op: str) -> tuple[str, int]:
        """Returns the file and line of the operator's spec, or "" and 0 if they are unknown.

        The file is relative to the working directory if it lies below it.
        """
        file, _, line = self.header["subjects"].get(op, {}).get("where", "").rpartition(":")
        if not line.isdigit():
            return "", 0
        path = Path(file)
        return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path), int(line)


def read_summary(results: Path) -> Summary:
    """Reads a finished run. Raises UserError, which names the line, if the file is not such a run."""
    lines = _lines(results)
    broken: dict[str, dict[str, Any]] = {}
    header = next(lines, None)
    if header is None or "plan" not in header or "subjects" not in header:
        raise UserError(f"{results} is no results file of this version of OpGate")
    summary = Summary(header, {}, Counter(), Counter(), "")
    for line in lines:
        if "case" in line:
            _take(summary, line)
            if line["verdict"] not in ("pass", "owed"):
                broken[line["case"]] = line
        elif "row" in line:
            op, device, check = line["row"].split("/")
            group = summary.groups[op, device, check]
            group.text, group.finding = line["cell"], line.get("finding", "").rstrip()
        elif "defect" in line:
            summary.defects.append(_defect(line, broken))
        elif "finished" in line:
            summary.finished = line["finished"]
    if not summary.finished:
        raise UserError(f"{results} is unfinished; complete it with `opgate run --resume`")
    if any(not group.text for group in summary.groups.values()):
        raise UserError(f"{results} was written by another version of OpGate; run again")
    gate = results.parent / "gate.json"
    if gate.exists():
        said = json.loads(gate.read_text())
        if said["started"] == header["started"]:  # an earlier run's gate.json may still be there
            summary.gate = said
    return summary


def _lines(results: Path) -> Iterator[dict[str, Any]]:
    try:
        with results.open(encoding="utf-8") as stream:
            for number, text in enumerate(stream, 1):
                try:
                    yield json.loads(text)
                except json.JSONDecodeError as error:
                    raise UserError(f"{results}:{number}: not a line of OpGate's results: {error}") from error
    except OSError as error:
        raise UserError(f"cannot read {results}: {error.strerror}") from error


def _defect(line: dict[str, Any], broken: dict[str, dict[str, Any]]) -> Defect:
    known = {name: line[name] for name in ("op", "device", "severity", "cause", "example", "checks")}
    rows = frozenset(CaseId.of(case).row for case in line["cases"])
    text = line.get("finding", "").rstrip()
    return Defect(id=line["defect"], finding=text, said=broken[line["example"]], rows=rows, **known)


def _take(summary: Summary, line: dict[str, Any]) -> None:
    case, verdict = line["case"], line["verdict"]
    parts = CaseId.of(case)
    group = summary.groups.setdefault(parts.row, Group(*parts.row))
    group.counts[verdict] += 1
    ulps = line.get("ulps", 0.0)
    if ulps and ulps > group.worst.get(parts.dtype, (0.0, ""))[0]:
        group.worst[parts.dtype] = (ulps, case)
    if verdict == "owed":
        group.owed = line["reason"]
        summary.owed[line["reason"]] += 1
    elif line.get("given_by") == "evidence":
        group.elsewhere = line["reason"]
        summary.elsewhere[line["reason"]] += 1
