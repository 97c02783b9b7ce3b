"""Acts on modules once a program has imported them, in OpGate's own processes and in those that it starts."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules where they would be found anyway, and acts once they have been executed."""

    def __init__(self, actions: dict[str, Callable[[], None]]) -> None:
        self.actions = actions
        self.searching = False

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answers only for modules whose action is due. Some programs search for one and do not import it."""
        if self.searching or name not in self.actions:
            return None
        self.searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.searching = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                act = self.actions.pop(name, None)
                execute(module)
                if act is not None:
                    act()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def act_after_imports(actions: dict[str, Callable[[], None]]) -> None:
    """Calls each of these once the module of its name has been executed."""
    sys.meta_path.insert(0, Finder(actions))
