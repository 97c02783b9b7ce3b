"""The checks of the Python half, one module each."""

import importlib
import pkgutil

from opgate.judging.registry import CHECKS, Check


def load_checks() -> dict[str, Check]:
    """Imports every module of this package, and returns all registered checks by id."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return CHECKS
