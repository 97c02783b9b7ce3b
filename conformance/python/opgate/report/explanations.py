"""What `opgate explain` says of each check, for reports."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Explanation:
    """The promise of a check, why it matters, how to mend what it finds, and a real bug of the kind.

    `wrong` and `right` are code with the mistake and without it; of some checks there is none.
    """

    promise: str
    why: str
    fix: str
    example: str
    wrong: str = ""
    right: str = ""


def explanations() -> dict[str, Explanation]:
    """Of every check, native and Python, by id."""
    from opgate import _engine
    from opgate.registry import load_checks

    native = {name: Explanation(**told) for name, told in json.loads(_engine.explanations()).items()}
    return native | {
        name: Explanation(**{field.name: getattr(check, field.name) for field in fields(Explanation)})
        for name, check in load_checks().items()
    }
