"""How close to its reference an operator promises to stay. The names are those of opgate/accuracy.h."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from opgate.specs.dtypes import dtype_name

if TYPE_CHECKING:  # see dtypes.py
    import torch


@dataclass(frozen=True)
class Accuracy:
    """Bitwise equal, or within `bound` ulps."""

    bound: float | None
    """In units in the last place (ulps) of the output's dtype; None for bitwise equal."""
    by_inputs: bool = False
    dtype: torch.dtype | None = None
    """The ulps are those of this dtype in results whose dtype is more precise."""
    input_dtype: bool = False
    """The same for the dtype that is tried on the sample."""

    def scaled_by_inputs(self) -> Accuracy:
        """Measures in ulps of the reference for the absolute values of the inputs, for sums that cancel."""
        return replace(self, by_inputs=True)

    def of(self, computed: torch.dtype) -> Accuracy:
        """Measures results whose dtype is more precise in ulps of `computed`, a floating dtype.

        `ulps(2).of(torch.float32)` is for results that are computed in float and returned in double.
        """
        return replace(self, dtype=computed, input_dtype=False)

    def of_input_dtype(self) -> Accuracy:
        """Measures results in ulps of the dtype that is tried on the sample, where theirs is more precise.

        This is for operators that return, say, statistics in double of data in float, half or double.
        """
        return replace(self, dtype=None, input_dtype=True)

    def as_json(self) -> dict[str, Any]:
        """The format of spec/json/spec_json.h."""
        return {
            "ulps": self.bound,
            "by_inputs": self.by_inputs,
            "dtype": self.dtype and dtype_name(self.dtype),
            "input_dtype": self.input_dtype,
        }


def exact() -> Accuracy:
    """Bitwise equal: for operators that move or select data."""
    return Accuracy(None)


def ulps(bound: float) -> Accuracy:
    """Within `bound` ulps of the correctly rounded result; 0.5 is perfect rounding."""
    return Accuracy(bound)
