"""How a function that a decorator of a spec decorates becomes a spec, which is known by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Written = TypeVar("Written")
Describe = Callable[[Written], Any]


def registering(
    name: str,
    registry: dict[str, Written],
    begin: Callable[[str], Written],
    validate: Callable[[Written], None] = lambda _: None,
) -> Callable[[Describe[Written]], Describe[Written]]:
    """Lets the decorated function fill in what `begin` makes for its file and line, and registers that.

    Raises ValueError for a second spec of that name, and what `validate` raises.
    """

    def register(describe: Describe[Written]) -> Describe[Written]:
        code = inspect.unwrap(describe).__code__
        written: Any = begin(f"{code.co_filename}:{code.co_firstlineno}")
        describe(written)
        validate(written)
        if name in registry:
            known: Any = registry[name]
            raise ValueError(f"{written.where}: {name} has a spec already, at {known.where}")
        registry[name] = written
        return describe

    return register
