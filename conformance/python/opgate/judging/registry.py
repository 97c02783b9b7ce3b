"""The checks of the Python half: one module each in opgate.checks, registered by the decorator `check`."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opgate.calls.call import Call
from opgate.judging.explanation import Explanation, read_explanation
from opgate.judging.judgement import Judgement
from opgate.packages.cpp_compiler import missing_compiler

Judge = Callable[[Call], Judgement]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A promise with its public id, and the calls for which it is planned (see Scope in judging/scope.h).

    It is planned for every sample, contiguous and in the first declared dtype, and for the first sample also
    in each of `variants` and in each dtype.
    """

    id: str
    judge: Judge
    explanation: Explanation
    """The Markdown file beside the module."""
    variants: str = "every"
    """contiguous, rearranged, resized, same_sizes, packaged, every or bad."""
    dtypes: str = "declared"
    """declared: all declared dtypes; first: only the first of them."""
    first_sample: bool = False
    """Whether to plan the check for the first sample only."""
    promised: str | None = None
    """If set, the check is planned only if the spec makes this promise."""
    device: str = ""
    """`cpu` or an accelerator such as `cuda`, for a check that is planned on that device only."""
    reference: bool = False
    """Whether to plan the check only if the spec has a reference, which a draft may lack."""
    ops: bool = True
    models: bool = False
    classes: bool = False
    registered: bool = False
    """Whether the check is only for operators that PyTorch's dispatcher knows, and for no functions."""
    over_torch: bool = True
    """Whether the check is also for kernels over torch's own operators, which no compiler calls."""
    over_autograd: bool = False
    """Without `over_torch`: whether it is still for those at an Autograd key, which compilers trace."""
    needs_package: bool = False
    needs_fake: bool = False
    """Whether it traces the call, so that an operator without a fake kernel is not asked."""
    needs_compiler: bool = False
    """Whether it compiles C++ code itself. (Packages are made before the checks that need them.)"""
    slow: bool = False
    """Whether a call takes seconds, so that quicker checks come first."""
    revision: int = 1
    """Raised if a case of the same id is judged otherwise; see judging/revision.h."""
    imports: tuple[str, ...] = ()
    """Modules that `judge` needs and that take long to import: they are imported once for all workers."""
    packages: tuple[str, ...] = ()
    """Optional Python packages that `judge` needs. Without one of them, the check is owed."""
    subjects: Callable[[], list[str]] | None = None
    """Returns the only operators that the check is for, once the modules of opgate.toml are imported."""

    def missing(self) -> str:
        """What must be installed before the check can judge; empty if all is there."""
        absent = [name for name in self.packages if importlib.util.find_spec(name) is None]
        if not absent:
            return missing_compiler() if self.needs_compiler else ""
        return f"Python packages not installed: pip install {' '.join(absent)}"

    def as_json(self) -> dict[str, Any]:
        """What the native plan needs to know about the check."""
        here_alone = ("judge", "imports", "packages", "needs_compiler")
        described = {name: value for name, value in vars(self).items() if name not in here_alone}
        return described | {
            "explanation": vars(self.explanation),
            "subjects": self.subjects and self.subjects(),
            "missing": self.missing(),
        }


CHECKS: dict[str, Check] = {}
ONCE = {"variants": "contiguous", "dtypes": "first", "first_sample": True}
"""For a check of an operator as a whole: it is planned for one call."""


def check(id: str, **described: Any) -> Callable[[Judge], Judge]:  # noqa: A002 - the word that users see
    """Registers the decorated function as the judge of check `id`; `described` has the other fields.

    The explanation is read from the file beside the function's: fake_symbolic.md beside fake_symbolic.py.
    """

    def register(judge: Judge) -> Judge:
        CHECKS[id] = Check(id=id, judge=judge, explanation=read_explanation(prose_of(judge)), **described)
        return judge

    return register


def prose_of(judge: Judge) -> Path:
    """The file that explains the check with this judge."""
    return Path(inspect.getfile(judge)).with_suffix(".md")
