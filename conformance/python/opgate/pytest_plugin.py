"""pytest --opgate opgate.toml: one item for each operator, check and device, judged by `opgate run`.

-k selects items by the name of the operator, the check or the device. All selected items of one process run
together, when pytest reaches the first of them. Under xdist, each process runs the items that it receives;
with --dist loadgroup, the items of one operator stay together.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from opgate.calls.case_id import CaseId

SHOWN = 3  # defects of an item: the first ones are shown, and the rest are only counted
BAD = ("fail", "crash", "timeout", "invalid")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option --opgate."""
    group = parser.getgroup("opgate", "OpGate")
    group.addoption(
        "--opgate", metavar="FILE", help="check the operators of this opgate.toml, one item per check"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker xdist_group, which is unknown where xdist is not installed."""
    config.addinivalue_line("markers", "xdist_group(name): items that one process of xdist runs")


@pytest.hookimpl(tryfirst=True)  # before -k looks at the items
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Adds the items of --opgate."""
    if config.getoption("opgate") is None:
        return
    file = Path(config.getoption("opgate")).absolute()
    collector = OpGateFile.from_parent(session, path=file)
    items += collector.collect()


def program() -> str:
    """The `opgate` executable: from OPGATE, beside this package, or on PATH. Raises UsageError."""
    beside = Path(__file__).parents[2] / "bin" / "opgate"
    found = os.environ.get("OPGATE") or (str(beside) if beside.exists() else shutil.which("opgate"))
    if not found:
        raise pytest.UsageError("--opgate: no `opgate` executable on PATH; name it in OPGATE")
    return found


class OpGateFile(pytest.File):
    """The cases that one opgate.toml plans."""

    def collect(self) -> list[OpGateItem]:
        """One item for each operator, check and device, in the order of the plan. Raises UsageError."""
        listed = subprocess.run(
            [program(), "list", "cases", "--config", str(self.path)],
            capture_output=True,
            text=True,
            check=False,
        )
        if listed.returncode != 0:
            raise pytest.UsageError(f"--opgate {self.path}: {listed.stderr.strip()}")
        found = dict.fromkeys(CaseId.of(line).row for line in listed.stdout.splitlines())
        return [
            OpGateItem.from_parent(self, op=op, check=check, device=device) for op, device, check in found
        ]


class OpGateItem(pytest.Item):
    """All cases of one operator, check and device."""

    def __init__(self, *, op: str, check: str, device: str, **keywords: Any) -> None:
        super().__init__(name=f"{op}/{check}/{device}", **keywords)
        self.op, self.check, self.device = op, check, device
        self.extra_keyword_matches.update((op, check, device))
        self.add_marker(pytest.mark.xdist_group(op))

    def runtest(self) -> None:
        """Raises Broken for cases that did not pass; skips if all are owed (not run on this machine)."""
        result = results_of(self.session)[self]
        if not result.verdicts:
            raise Broken([f"{self.name} has no verdict: `opgate run` ended before it"])
        findings = result.findings()
        if findings:
            more = [f"... and {len(findings) - SHOWN} more defects"] if len(findings) > SHOWN else []
            raise Broken(findings[:SHOWN] + more)
        if all(line["verdict"] == "owed" for line in result.verdicts):
            pytest.skip(f"owed: {result.verdicts[0]['reason']}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """The findings, as the command line prints them, without a traceback.

        The summary gets their first line alone: where `CI` is set, pytest shortens nothing there.
        """
        if not isinstance(excinfo.value, Broken):
            return super().repr_failure(excinfo)
        text = "\n\n".join(excinfo.value.findings)
        shown: Any = excinfo.getrepr(style="native")
        shown.reprtraceback.reprentries[0].lines = [text + "\n"]
        shown.reprcrash.message = text.splitlines()[0]
        return shown

    def reportinfo(self) -> tuple[Path, None, str]:
        """The opgate.toml of the item, and the name of the item."""
        return self.path, None, self.name


class Broken(Exception):
    """Findings of one item."""

    def __init__(self, findings: list[str]) -> None:
        super().__init__("\n\n".join(findings))
        self.findings = findings


@dataclass
class ItemResult:
    """The verdicts of one item, and the defects that they show: lines of results.jsonl."""

    verdicts: list[dict[str, Any]] = field(default_factory=list)
    defects: list[dict[str, Any]] = field(default_factory=list)

    def findings(self) -> list[str]:
        """A text for each defect that the item's cases show. The one of its example describes it in full."""
        broken = {line["case"]: line for line in self.verdicts if line["verdict"] in BAD}
        findings = []
        for defect in self.defects:
            cases = [case for case in defect["cases"] if case in broken]
            if not cases:
                continue
            example = defect["example"]
            number = f"{len(cases)} case{'s' if len(cases) > 1 else ''}"
            if example in broken:
                findings.append(f"{defect['op']}: {defect['cause']} ({number})\n{defect['finding'].rstrip()}")
            else:
                _, device, check = CaseId.of(example).row
                findings.append(
                    f"{defect['op']}: {defect['cause']} ({number}, such as {cases[0]})\n"
                    f"  {'told by':<10} {defect['op']}/{check}/{device}\n"
                    f"  {'again':<10} opgate repro '{cases[0]}'"
                )
        return findings


RESULTS = pytest.StashKey[dict[OpGateItem, ItemResult]]()


def results_of(session: pytest.Session) -> dict[OpGateItem, ItemResult]:
    """The results of all selected items, which run at the first call."""
    if RESULTS not in session.stash:
        session.stash[RESULTS] = {}
        for items in at_once([item for item in session.items if isinstance(item, OpGateItem)]):
            session.stash[RESULTS] |= run(items)
    return session.stash[RESULTS]


def at_once(items: list[OpGateItem]) -> Iterator[list[OpGateItem]]:
    """Groups of items that one `opgate run --op ... --check ... --device ...` runs exactly."""
    wanted: dict[tuple[Path, str], set[tuple[str, str]]] = defaultdict(set)
    for item in items:
        wanted[item.path, item.op].add((item.check, item.device))
    groups: dict[tuple[Path, str, frozenset[str]], list[OpGateItem]] = defaultdict(list)
    for item in items:
        checks = frozenset(check for check, device in wanted[item.path, item.op] if device == item.device)
        groups[item.path, item.device, checks].append(item)
    yield from groups.values()


def run(items: list[OpGateItem]) -> dict[OpGateItem, ItemResult]:
    """Runs the items and returns their results. Raises Broken with the program's message if it fails."""
    file = items[0].path
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    output = file.parent / ".opgate" / ("pytest" if worker is None else f"pytest-{worker}")
    command = [program(), "run", "--config", str(file), "--output", str(output)]
    command += ["--op", *dict.fromkeys(item.op for item in items)]
    command += ["--check", *dict.fromkeys(item.check for item in items), "--device", items[0].device]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode not in (0, 1):
        raise Broken([finished.stderr.strip()])
    results = {item: ItemResult() for item in items}
    places = {(item.op, item.device, item.check): item for item in items}
    for line in map(json.loads, (output / "results.jsonl").read_text().splitlines()):
        if "defect" in line:
            # An operator that calls another one shows the defects of that one.
            for place in {CaseId.of(case).row for case in line["cases"]} & places.keys():
                results[places[place]].defects.append(line)
        elif "case" in line and (place := CaseId.of(line["case"]).row) in places:
            results[places[place]].verdicts.append(line)
    return results
