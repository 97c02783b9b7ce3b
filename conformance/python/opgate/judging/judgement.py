"""The judgement of one case: the counterpart of judging/verdict.h, with the same JSON format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Judgement:
    """`verdict` is pass, fail, owed (not run here, because something is missing) or invalid (bad spec).

    For a fail, `promised` says which promise was broken.
    """

    verdict: str
    promised: str = ""
    happened: str = ""
    likely: str = ""
    reason: str = ""
    detail: list[str] = field(default_factory=list)
    fault: str = ""  # what was seen to be wrong: see judging/verdict.h
    about: str = ""
    differs: str = ""
    mistake: str = ""
    seen_by: str = ""
    seen_at: str = ""
    ended: str = ""  # of a crash: the words that all share which end alike
    remarks: str = ""  # the end of the reason: what failed
    example: str = ""  # the call that shows it, as JSON: its check, dtype, variant and sample
    stack: list[str] = field(default_factory=list)  # the operator's functions, innermost first

    def as_json(self) -> dict[str, Any]:
        """The verdict and the fields that are not empty."""
        return {name: value for name, value in vars(self).items() if value}


PASS = Judgement("pass")


def first_failure(judgements: Iterable[Judgement]) -> Judgement:
    """The first of these that is no plain pass; those after it are not asked for. Otherwise a pass."""
    return next((judgement for judgement in judgements if judgement != PASS), PASS)


def fail(
    promised: str,
    happened: str,
    likely: str = "",
    detail: list[str] | None = None,
    *,
    about: str = "",
    differs: str = "",
) -> Judgement:
    """A broken promise.

    `about` tells faults of one check apart: an argument, or a test of opcheck. `differs` is "values" where
    results were compared and have other values.
    """
    return Judgement("fail", promised, happened, likely, detail=detail or [], about=about, differs=differs)


def owed(reason: str) -> Judgement:
    """A case that was not run here, with the reason: neither passed nor failed."""
    return Judgement("owed", reason=reason)


def invalid(reason: str) -> Judgement:
    """The spec or its sample is at fault."""
    return Judgement("invalid", reason=reason)
