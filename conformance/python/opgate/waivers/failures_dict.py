"""PyTorch's lists of known failures, which `torch.testing._internal.optests.generate_opcheck_tests` reads.

They are JSON: {"_version": 1, "data": {"my_ops::scale": {"Class.test_faketensor__test_x": {"comment": "",
"status": "xfail"}}}}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from opgate.request import UserError
from opgate.waivers.known_failure import KnownFailure

VERSION = 1  # the only one there is

COMPILED = ("opcheck", "compile.", "export.", "aoti.", "fake.symbolic")

CHECKS = {
    "test_schema": ("opcheck", "effect.", "registration."),
    "test_autograd_registration": ("opcheck", "grad."),
    "test_faketensor": ("fake.", *COMPILED),
    "test_aot_dispatch_static": COMPILED,
    "test_aot_dispatch_dynamic": COMPILED,
}
"""Which of OpGate's checks see what a test of opcheck sees."""


def failures_in(file: Path) -> Iterator[KnownFailure]:
    """The entries of the file whose status is "xfail" or "skip". Raises UserError."""
    try:
        content = json.loads(file.read_text())
    except ValueError as error:
        raise UserError(f"{file} is no JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("data"), dict):
        raise UserError(
            f'{file} is no list of known failures: it lacks "data", an object with a key for each operator'
        )
    if content.get("_version", VERSION) != VERSION:
        raise UserError(f"{file} has version {content['_version']}, and only {VERSION} is known")
    for operator, tests in content["data"].items():
        for test, entry in tests.items() if isinstance(tests, dict) else ():
            if not isinstance(entry, dict) or "status" not in entry:
                raise UserError(f'{file}: {operator}, {test}: an entry is an object with a "status"')
            if entry["status"] in ("xfail", "skip"):
                yield KnownFailure(
                    test=test,
                    place=str(file),
                    names=frozenset({operator, operator.partition(".")[0]}),
                    reason=entry.get("comment") or "",
                    checks=CHECKS.get(test.rpartition(".")[2].partition("__")[0], ("",)),
                )
