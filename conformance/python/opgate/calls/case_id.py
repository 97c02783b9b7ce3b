"""The id of a case: OP/DTYPE/SAMPLE/VARIANT/DEVICE/CHECK."""

from __future__ import annotations

from typing import NamedTuple


class CaseId(NamedTuple):
    """The parts of an id."""

    op: str
    dtype: str
    sample: str
    variant: str
    device: str
    """`cpu`, `cuda` or `sim`."""
    check: str

    @classmethod
    def of(cls, text: str) -> CaseId:
        """Split an id. Raises TypeError if the text does not have six parts."""
        return cls(*text.split("/"))

    @classmethod
    def of_call(cls, text: str) -> CaseId:
        """Split the id of a call, which has no check. Raises TypeError if it has not five parts."""
        return cls(*text.split("/"), check="")

    @property
    def row(self) -> tuple[str, str, str]:
        """The operator, device and check: the place of the case in the table of a run."""
        return self.op, self.device, self.check
