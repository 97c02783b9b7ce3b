"""What a Python worker is doing, for the progress of a run: a check, a package, or compiling a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


class Occupation:
    """Reports each change. Only in the process that it was made for or that `belongs_here` names."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._process = os.getpid()
        self._what = ""

    def belongs_here(self) -> None:
        """In a process that was forked, which has taken over."""
        self._process = os.getpid()

    def begin(self, what: str) -> None:
        """From now on the worker does this."""
        self._what = what
        self._report(what)

    def watch_triton(self) -> None:
        """From now on, a kernel of Triton that is compiled is named, too."""
        from triton import knobs

        def compiling(*, fn: Any, already_compiled: bool = False, **_: Any) -> None:
            if not already_compiled:
                self._report(f"{self._what}, compiling {fn.name}")

        def compiled(*, already_compiled: bool = False, **others: Any) -> None:
            if after is not None:
                after(already_compiled=already_compiled, **others)
            if not already_compiled:
                self._report(self._what)

        after = knobs.runtime.jit_post_compile_hook
        knobs.runtime.jit_post_compile_hook = compiled
        if knobs.runtime.jit_cache_hook is None:
            knobs.runtime.jit_cache_hook = compiling

    def _report(self, what: str) -> None:
        if os.getpid() == self._process:
            self._tell(what)
