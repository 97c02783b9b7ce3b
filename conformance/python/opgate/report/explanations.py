"""The explanations of the checks, as `opgate explain` prints them, for reports."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Explanation:
    """The promise of a check, why it matters, how to fix what it finds, and a real bug of the kind.

    `wrong` and `right` are code with the mistake and without it; both are empty for some checks.
    """

    promise: str
    why: str
    fix: str
    example: str
    wrong: str = ""
    right: str = ""


def explanations() -> dict[str, Explanation]:
    """Returns the explanation of every check, native and Python, by id."""
    from opgate import _engine
    from opgate.registry import load_checks

    native = {name: Explanation(**told) for name, told in json.loads(_engine.explanations()).items()}
    return native | {
        name: Explanation(**{field.name: getattr(check, field.name) for field in fields(Explanation)})
        for name, check in load_checks().items()
    }
