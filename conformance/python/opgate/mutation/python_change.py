"""What a mutant does to a node of the syntax tree of a Python source."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from opgate.mutation.python_syntax import Site


@dataclass(frozen=True)
class PythonChange:
    """A change of a part of a source.

    Where Python runs it, the changed source is `before + PART + after`, in which OPGATE_CHOSEN stands for an
    expression that is true while this mutant is the chosen one, and OPGATE_NUMBER for its number. Triton
    compiles a function with `replaced` instead of the part.
    """

    site: Site
    kind: str
    before: str
    after: str
    replaced: str
    #: What the author reads: the part in the mutant.
    mutated: str

    @property
    def part(self) -> ast.expr | ast.stmt:
        """The node that is changed."""
        assert isinstance(self.site.node, ast.expr | ast.stmt)
        return self.site.node


def instead(site: Site, kind: str, code: str, mutated: str | None = None) -> PythonChange:
    """Another expression instead of this one. The author reads `mutated`, or else the code."""
    return PythonChange(
        site,
        kind,
        f"(({code}) if OPGATE_CHOSEN else (",
        "))",
        f"({code})",
        code if mutated is None else mutated,
    )


def left_out(site: Site, kind: str) -> PythonChange:
    """The statement is missing."""
    return PythonChange(site, kind, "if not OPGATE_CHOSEN: ", "", "pass", "")


def compiled_instead(site: Site, kind: str, code: str, mutated: str | None = None) -> PythonChange:
    """Another statement instead of this one, for functions that Triton compiles."""
    assert site.kernel is not None
    return PythonChange(site, kind, "", "", code, code if mutated is None else mutated)
