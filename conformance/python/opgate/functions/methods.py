"""Methods as functions, "mylib:Window().sums": each call makes an object, and calls its method."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from opgate.recording.function_recorder.signature import OF_OBJECT

WITHOUT_NAME = re.compile(r"arg\d+")  # as pybind11 names parameters that have none


class Method:
    """A method of objects that its calls make, with the arguments whose names begin with "self_"."""

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def with_parameters(self, names: Sequence[str]) -> Callable[..., Any]:
        """The function whose positional parameters have these names."""

        @functools.wraps(getattr(self.owner, self.name))
        def call(*arguments: Any, **keywords: Any) -> Any:
            named = dict(zip(names, arguments, strict=False))
            made_with = {
                name.removeprefix(OF_OBJECT): value
                for name, value in (named | keywords).items()
                if name.startswith(OF_OBJECT)
            }
            in_order = [value for name, value in made_with.items() if WITHOUT_NAME.fullmatch(name)]
            by_name = {name: value for name, value in made_with.items() if not WITHOUT_NAME.fullmatch(name)}
            method = getattr(self.owner(*in_order, **by_name), self.name)
            return method(
                *(value for name, value in named.items() if not name.startswith(OF_OBJECT)),
                **{name: value for name, value in keywords.items() if not name.startswith(OF_OBJECT)},
            )

        return call
