"""Writes the waivers that `opgate waive --from` asks for; see cli/commands/waive.cpp."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tomlkit

from opgate.request import UserError, asked, status_of
from opgate.toml_file import change_toml
from opgate.waivers import failures_dict, xfail_marks
from opgate.waivers.known_failure import KnownFailure

SHOWN = 10
"""So many lines of what no list knows; the last run has shown them all."""


def known_failures(files: Iterable[str]) -> list[KnownFailure]:
    """What the files list, each by its kind. Raises UserError."""
    failures: list[KnownFailure] = []
    for file in map(Path, files):
        if file.suffix not in READERS:
            raise UserError(
                f"{file}: known failures are read from a file of tests (.py) or a failures_dict (.json)"
            )
        try:
            failures += READERS[file.suffix](file)
        except OSError as error:
            raise UserError(f"{file} cannot be read: {error.strerror}") from error
    return failures


READERS = {".json": failures_dict.failures_in, ".py": xfail_marks.failures_in}


def waiver_of(broken: dict[str, Any], known: KnownFailure, request: dict[str, Any]) -> dict[str, Any]:
    """A table [[waiver]] for a broken check. Raises UserError if no address is known for it."""
    issue = known.issue or request["issue"]
    if not issue:
        raise UserError(
            f"{known.place}: {known.test} names no address of an issue, which a waiver needs: "
            "write it into the reason, or give one for all with --issue"
        )
    told = known.reason.strip() or "known failure"
    waiver = {
        "check": broken["check"],
        "op": broken["op"],
        "reason": f"{told} ({known.test} in {known.place})",
        "issue": issue,
        "expires": datetime.date.fromisoformat(request["expires"]),
        "device": broken["device"],
    }
    if known.dtypes and len(broken["dtypes"]) == 1:
        waiver["dtype"] = broken["dtypes"][0]
    if broken["ended"]:
        waiver["defect"] = broken["verdict"]
    return waiver


def is_same(waiver: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two waivers are for the same check, operator, device and dtype."""
    return all(waiver.get(key) == other.get(key) for key in ("check", "op", "device", "dtype", "defect"))


def add_waivers(document: tomlkit.TOMLDocument, waivers: list[dict[str, Any]]) -> None:
    """Appends the tables to those of the file."""
    tables = document.setdefault("waiver", tomlkit.aot())
    for waiver in waivers:
        tables.append(tomlkit.item(waiver))


def print_rows(title: str, rows: list[str]) -> None:
    """Prints the rows below their title; nothing if there are none."""
    if rows:
        print("\n".join([title, *(f"  {row}" for row in rows)]))


def waive(request: dict[str, Any]) -> None:
    """Adds a waiver for each broken check that a list knows. Raises UserError."""
    failures = known_failures(request["files"])
    file = Path(request["waivers"])
    present = tomlkit.parse(file.read_text()).unwrap().get("waiver", []) if file.exists() else []
    added: list[dict[str, Any]] = []
    unknown, used = [], set()
    for broken in request["broken"]:
        row = f"{broken['op']}  {broken['what']}"
        explaining = [failure for failure in failures if failure.explains(broken)]
        used |= set(explaining)
        if not explaining:
            unknown.append(row)
            continue
        waiver = waiver_of(broken, explaining[0], request)
        if not any(is_same(waiver, other) for other in [*present, *added]):
            added.append(waiver)
    if added:
        change_toml(file, lambda document: add_waivers(document, added))
        if not request["is_named"]:
            config = Path(request["config"])
            own = {"waivers": os.path.relpath(file, config.parent)}
            change_toml(config, lambda document: document.update(own))
    print(f"{len(failures)} known failures in {', '.join(request['files'])}")
    print_rows(
        f"waived until {request['expires']}:",
        [f"{one['op']}  {one['check']}, {one['device']}: {one['reason']}" for one in added],
    )
    idle = [f"{known.test} in {known.place}" for known in failures if known not in used]
    print_rows("known, but nothing that the last run checked fails because of it:", idle)
    more = [f"and {len(unknown) - SHOWN} more"] if len(unknown) > SHOWN else []
    print_rows("fails, and none of these lists knows it:", unknown[:SHOWN] + more)
    if added:
        print(f"wrote {len(added)} waivers to {file}")
        if not request["is_named"]:
            print(f"named it in {request['config']}")
        print("next: review them, then `opgate accept`")
    else:
        print("no waiver was written")


if __name__ == "__main__":
    sys.exit(status_of(lambda: waive(asked())))
