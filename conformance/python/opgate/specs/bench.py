"""The speed part of a spec written in Python: arguments on which `opgate bench` times an operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SpeedLimit = float | Mapping[str, float] | None
"""The least ratio of the baseline's time to the operator's: on every device, by device ("cuda"), or none."""


@dataclass
class Bench:
    """One set of arguments, the baseline that is timed beside the operator, and how fast it must be."""

    name: str
    arguments: list[Any]
    where: str
    dtype: str
    against: str
    forward: SpeedLimit
    backward: SpeedLimit

    def as_json(self) -> dict[str, Any]:
        """The format of spec/json/bench_json.h."""
        return vars(self) | {"forward": limits(self.forward), "backward": limits(self.backward)}


def limits(limit: SpeedLimit) -> dict[str, float]:
    """The limit by device, where "all" stands for the devices that are not named."""
    if limit is None:
        return {}
    return dict(limit) if isinstance(limit, Mapping) else {"all": limit}
