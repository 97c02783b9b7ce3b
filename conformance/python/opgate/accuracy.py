"""How close to its reference an operator promises to stay. The names are those of opgate/accuracy.h."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Accuracy:
    """Bitwise equal, or within `bound` ulps."""

    bound: float | None
    """In units in the last place (ulps) of the output's dtype; None for bitwise equal."""
    by_inputs: bool = False

    def scaled_by_inputs(self) -> Accuracy:
        """Measures in ulps of the reference for the absolute values of the inputs, for sums that cancel."""
        return replace(self, by_inputs=True)

    def as_json(self) -> dict[str, Any]:
        """The format of spec/spec_json.h."""
        return {"ulps": self.bound, "by_inputs": self.by_inputs}


def exact() -> Accuracy:
    """Bitwise equal: for operators that move or select data."""
    return Accuracy(None)


def ulps(bound: float) -> Accuracy:
    """Within `bound` ulps of the correctly rounded result; 0.5 is perfect rounding."""
    return Accuracy(bound)
