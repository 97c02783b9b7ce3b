"""A failure that a project has written down: of which operators, seen by what, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ADDRESS = re.compile(r"https?://[^\s\"'<>)\]]+")


@dataclass(frozen=True)
class KnownFailure:
    """One entry of a list."""

    test: str
    """What fails, as the list names it: the name of a test."""
    place: str
    """FILE, or FILE:LINE."""
    names: frozenset[str]
    """Operators ("my_ops::scale"), and names of functions that the test calls ("scale")."""
    reason: str = ""
    checks: tuple[str, ...] = ("",)
    """Beginnings of the ids of the checks that see such a failure; "" begins every id."""
    dtypes: frozenset[str] = frozenset()
    """The only dtypes that it is about ("float16"); empty if it is about all."""

    @property
    def issue(self) -> str:
        """The first address in the reason; empty if there is none."""
        found = ADDRESS.search(self.reason)
        return found[0].rstrip(".,;") if found else ""

    def explains(self, broken: Mapping[str, Any]) -> bool:
        """Whether this is the failure of `broken`, a check of an operator in the last run."""
        if not self.names & names_of(broken):
            return False
        if not broken["check"].startswith(self.checks):
            return False
        return not self.dtypes or set(broken["dtypes"]) <= self.dtypes


def names_of(broken: Mapping[str, Any]) -> set[str]:
    """How a project may name the operator of a schema, or a function whose id is "module:name"."""
    if not broken["schema"]:
        return {broken["op"], broken["op"].rpartition(":")[2].rpartition(".")[2]}
    overload = broken["schema"].partition("(")[0]
    packet = overload.partition(".")[0]
    return {overload, packet, packet.rpartition("::")[2]}
