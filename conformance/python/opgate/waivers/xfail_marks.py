"""Tests that pytest or unittest expects to fail, found in a file of tests without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from opgate.request import UserError
from opgate.waivers.known_failure import KnownFailure

MARKS = ("mark.xfail", "expectedFailure")
"""The ends of the names of decorators, as `pytest.mark.xfail` and `unittest.expectedFailure`."""

NOT_THE_PROJECTS = ("torch.", "F.", "np.", "numpy.", "self.", "pytest.")
"""How calls begin that are none of the project's functions: `torch.add` is not `my_ops::add`."""

OPERATOR = re.compile(r"[A-Za-z_]\w*::\w+(\.\w+)?")


@dataclass(frozen=True)
class Mark:
    """One mark of a test, or of one of its parameters."""

    reason: str
    line: int
    dtypes: frozenset[str] = frozenset()


Function = ast.FunctionDef | ast.AsyncFunctionDef


def failures_in(file: Path) -> Iterator[KnownFailure]:
    """The marked tests of the file, in its order. Raises UserError for a file that is no Python."""
    try:
        tree = ast.parse(file.read_text(), file)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{file} is no Python: {error}") from error
    yield from in_body(tree.body, file, "", marks_of_variable(tree.body))


def in_body(
    body: Iterable[ast.stmt], file: Path, scope: str, inherited: list[Mark]
) -> Iterator[KnownFailure]:
    """The marked tests of a module or class, whose own marks are `inherited`."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            own = [*marks_of_variable(statement.body), *marks_in(statement.decorator_list)]
            yield from in_body(statement.body, file, f"{scope}{statement.name}.", [*inherited, *own])
        elif isinstance(statement, Function) and statement.name.startswith("test"):
            marks = [*inherited, *marks_in(statement.decorator_list), *calls_of_xfail(statement)]
            failure = KnownFailure(scope + statement.name, str(file), frozenset(names_in(statement)))
            for mark in marks:
                place = f"{file}:{mark.line}"
                yield replace(failure, place=place, reason=mark.reason, dtypes=mark.dtypes)


def marks_of_variable(body: Iterable[ast.stmt]) -> list[Mark]:
    """Those of `pytestmark = ...`, which hold for all tests of a module or class."""
    return [
        mark
        for statement in body
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in statement.targets)
        for mark in marks_in([statement.value])
    ]


def marks_in(expressions: Iterable[ast.expr]) -> list[Mark]:
    """Marks that an expression is or has in it, as a decorator of pytest.mark.parametrize does."""
    marks = []
    for expression in expressions:
        parameters = [node for node in ast.walk(expression) if is_call_of(node, "param")]
        within = {inner for parameter in parameters for inner in ast.walk(parameter)}
        for parameter in parameters:
            dtypes = frozenset(dtypes_in(parameter))
            marks += [replace(mark, dtypes=dtypes) for mark in plain_marks(ast.walk(parameter))]
        marks += plain_marks(node for node in ast.walk(expression) if node not in within)
    return marks


def plain_marks(nodes: Iterable[ast.AST]) -> list[Mark]:
    """One for each mark of the nodes: with its reason if it is called, and without if it is only named."""
    nodes = list(nodes)
    called = [node for node in nodes if isinstance(node, ast.Call) and is_mark(node.func)]
    functions = [call.func for call in called]
    named = [node for node in nodes if is_mark(node) and node not in functions]
    return [Mark(reason_of(call), call.lineno) for call in called] + [
        Mark("", node.lineno) for node in named if isinstance(node, ast.expr)
    ]


def calls_of_xfail(function: Function) -> list[Mark]:
    """Those of `pytest.xfail("reason")` in a test."""
    return [
        Mark(reason_of(node), node.lineno)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("pytest.xfail", "xfail")
    ]


def is_mark(node: ast.AST) -> bool:
    """Whether the node names a mark of a test that is expected to fail."""
    return isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).endswith(MARKS)


def is_call_of(node: ast.AST, name: str) -> bool:
    """Whether the node calls a function of this name, of whatever module."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name


def reason_of(call: ast.Call) -> str:
    """The text of `reason=`, or of pytest.xfail's first argument; empty if it is no constant."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    if not given and not is_mark(call.func):
        given = call.args[:1]
    return given[0].value if given and is_text(given[0]) else ""


def is_text(node: ast.expr) -> bool:
    """Whether the node is a constant string."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def dtypes_in(node: ast.AST) -> set[str]:
    """Names of the dtypes that an expression names as `torch.float16`."""
    return {
        inner.attr
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute) and isinstance(getattr(torch, inner.attr, None), torch.dtype)
    }


def names_in(function: Function) -> set[str]:
    """What a test names: torch.ops.my_ops.scale, "my_ops::scale", and the functions that it calls."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            namespace, _, name = ast.unparse(node).partition("torch.ops.")[2].partition(".")
            names |= {f"{namespace}::{name.partition('.')[0]}", f"{namespace}::{name}"} if name else set()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= {node.value} if OPERATOR.fullmatch(node.value) else set()
        elif isinstance(node, ast.Call) and not (called := ast.unparse(node.func)).startswith(
            NOT_THE_PROJECTS
        ):
            names.add(called.rpartition(".")[2])
    return names
