"""The explanations of the checks, as `opgate explain` prints them, for reports."""

from __future__ import annotations

import json

from opgate.judging.explanation import Explanation


def explanations() -> dict[str, Explanation]:
    """Returns the explanation of every check, native and Python, by id."""
    from opgate import _engine
    from opgate.checks import load_checks

    native = {name: Explanation(**told) for name, told in json.loads(_engine.explanations()).items()}
    return native | {name: check.explanation for name, check in load_checks().items()}
