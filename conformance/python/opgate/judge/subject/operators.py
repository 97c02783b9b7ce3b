"""Operators as references and candidates: how they are found, and which arguments their specs have."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.calls.call import keyword_names, overload_of, split_keywords
from opgate.calls.case_id import CaseId
from opgate.specs.spec import SPECS

PLANNED = ["effect.mutation", "value.layout"]
"""Checks that are planned for each sample as it is."""


@dataclass(frozen=True)
class OperatorSources:
    """What defines operators and their specs."""

    libraries: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def files(self) -> list[Path]:
        """The files of all of these."""
        found = [importlib.util.find_spec(name) for name in self.modules]
        named = [spec.origin for spec in found if spec is not None and spec.origin]
        return [Path(each) for each in (*self.libraries, *self.specs, *named)]

    def load(self) -> None:
        """Loads the libraries and imports the modules; raises what these raise."""
        for library in self.libraries:
            torch.ops.load_library(library)
        for module in self.modules:
            importlib.import_module(module)


def operator(name: str) -> Callable[..., Any]:
    """The operator "mylib::op" or "mylib::op.overload", to be called with arguments in schema order.

    Raises AttributeError if there is none.
    """
    overload = overload_of(name)
    names = keyword_names(overload)

    def call(*arguments: Any) -> Any:
        positional, keywords = split_keywords(list(arguments), names)
        return overload(*positional, **keywords)

    return call


class SpecSamples:
    """The samples of an operator's spec, in its first dtype."""

    def __init__(self, name: str, sources: OperatorSources) -> None:
        written = {each: spec for each, spec in SPECS.items() if each == name}
        _engine.load(
            list(sources.specs),
            json.dumps([spec.as_json() for spec in written.values()]),
            {each: spec.reference_function for each, spec in written.items() if spec.reference_function},
        )
        try:
            planned = _engine.plan("[]", PLANNED, name)
        except RuntimeError:  # it has no spec
            planned = []
        calls = [call for call, _ in planned if call.endswith("/contiguous/cpu")]
        dtypes = [CaseId.of_call(call).dtype for call in calls]
        chosen = "float32" if "float32" in dtypes else dtypes[0] if dtypes else ""
        self.ids = [call for call, dtype in zip(calls, dtypes, strict=True) if dtype == chosen]

    def every(self) -> Iterator[tuple[str, str, list[Any]]]:
        """The kind, label and arguments of each sample."""
        for call in self.ids:
            label = f"the sample {CaseId.of_call(call).sample} of the spec"
            yield "spec", label, list(_engine.arguments(call))

    def draw(self) -> list[Any]:
        """The arguments of the largest sample, with other values of their domains: torch's seed decides."""
        largest = max(self.ids, key=lambda call: elements(_engine.arguments(call)))
        seed = int(torch.randint(1, 1 << 62, ()))
        return list(_engine.arguments(largest, seed))


def elements(arguments: list[Any]) -> int:
    """How many elements the tensors have together."""
    return sum(each.numel() for each in arguments if isinstance(each, torch.Tensor))
