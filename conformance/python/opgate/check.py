"""Checks of the Python half: one module each in opgate.checks, registered by the decorator."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from opgate.call import Call
from opgate.judgement import Judgement

Judge = Callable[[Call], Judgement]


@dataclass(frozen=True)
class Check:
    """A promise with its public id and the calls it is planned for (see Scope in checks/check.h)."""

    id: str
    judge: Judge
    promise: str
    why: str
    fix: str
    example: str
    variants: str
    ops: bool
    models: bool
    needs_package: bool

    def as_json(self) -> dict[str, Any]:
        """What the native plan needs to know of it."""
        return {name: value for name, value in vars(self).items() if name != "judge"}


CHECKS: dict[str, Check] = {}


def check(
    id: str,  # noqa: A002 - the word that users see
    *,
    promise: str,
    why: str,
    fix: str,
    example: str,
    variants: str = "every",
    ops: bool = True,
    models: bool = False,
    needs_package: bool = False,
) -> Callable[[Judge], Judge]:
    """Registers the decorated judge. `variants` is contiguous, rearranged, resized,
    same_sizes, packaged, every or bad."""

    def register(judge: Judge) -> Judge:
        CHECKS[id] = Check(
            id,
            judge,
            promise,
            inspect.cleandoc(why),
            inspect.cleandoc(fix),
            example,
            variants,
            ops,
            models,
            needs_package,
        )
        return judge

    return register


def load_checks() -> dict[str, Check]:
    """Imports every module of opgate.checks and returns what they registered, by id."""
    from opgate import checks

    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"opgate.checks.{module.name}")
    return CHECKS
