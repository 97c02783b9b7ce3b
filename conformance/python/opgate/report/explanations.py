"""What `opgate explain` says of each check, for reports."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """The promise of a check, why it matters, how to mend what it finds, and a real bug of the kind."""

    promise: str
    why: str
    fix: str
    example: str


def explanations() -> dict[str, Explanation]:
    """Of every check, native and Python, by id."""
    from opgate import _engine
    from opgate.registry import load_checks

    native = {name: Explanation(**told) for name, told in json.loads(_engine.explanations()).items()}
    return native | {
        name: Explanation(check.promise, check.why, check.fix, check.example)
        for name, check in load_checks().items()
    }
