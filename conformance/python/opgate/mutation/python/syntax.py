"""The syntax trees of Python sources: which nodes a call evaluates, and which functions Triton compiles."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef

# What stands after the first argument of these is the text of a refusal, or all of it is only printed.
REFUSALS = ("_check", "_check_value", "_check_index", "_check_type", "_check_not_implemented")
PRINTED = ("print", "warn", "static_assert", "static_print", "device_assert", "device_print")
# How fast a kernel is, or what is refused, and not what is computed.
OTHER_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "strict")
# Decorators of functions that other programs compile from their source, in which Python evaluates no switch.
COMPILED_ELSEWHERE = ("constexpr_function", "script", "script_method", "overload")


class Text:
    """A source in UTF-8, and where its nodes are."""

    def __init__(self, content: bytes) -> None:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        self.content = content.decode(encoding).encode()
        lines = self.content.split(b"\n")
        self.begins = [0]
        for line in lines:
            self.begins.append(self.begins[-1] + len(line) + 1)

    def begin(self, node: ast.expr | ast.stmt) -> int:
        """The offset of the node's first byte."""
        return self.begins[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """The offset after the node's last byte."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.begins[node.end_lineno - 1] + node.end_col_offset

    def between(self, begin: int, end: int) -> str:
        """The source from one offset to another."""
        return self.content[begin:end].decode()

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The node's source, in as many lines as it has there."""
        return self.between(self.begin(node), self.end(node))

    def in_one_line(self, node: ast.expr | ast.stmt) -> str:
        """The node's source; if it has several lines, the same code in one."""
        source = self.of(node)
        return ast.unparse(node) if "\n" in source else source

    def has_lines_of_its_own(self, node: ast.stmt) -> bool:
        """Whether no other code stands on the lines of the statement."""
        before = self.content[self.begins[node.lineno - 1] : self.begin(node)]
        end = self.content.find(b"\n", self.end(node))
        behind = self.content[self.end(node) : end if end >= 0 else len(self.content)].strip()
        return not before.strip() and (not behind or behind.startswith(b"#"))


@dataclass(frozen=True)
class Site:
    """A node that a call evaluates, and what is around it."""

    node: ast.AST
    parents: tuple[ast.AST, ...]
    """From the module to the node's parent."""
    function: str
    """The name of the innermost function with a name, with those of the classes and functions around it."""
    kernel: ast.FunctionDef | None
    """The function around the node, if Triton compiles it."""
    text: Text

    @property
    def parent(self) -> ast.AST:
        """The node that contains this one."""
        return self.parents[-1]

    @cached_property
    def around(self) -> Function | None:
        """The innermost function with a name."""
        return next((each for each in reversed(self.parents) if isinstance(each, Function)), None)


def sites(tree: ast.Module, text: Text) -> Iterator[Site]:
    """All nodes in bodies of functions that a call evaluates, outer ones first."""
    makers = _makers_of_kernels(tree)

    def visit(site: Site, runs: bool) -> Iterator[Site]:
        node, children = site.node, _evaluated(site.node)
        if isinstance(node, Function | ast.ClassDef):
            decorators = [_dotted(_called(each)) for each in node.decorator_list]
            if any(
                name.startswith("opgate.") or name.split(".")[-1] in COMPILED_ELSEWHERE for name in decorators
            ):
                return
            if isinstance(node, ast.FunctionDef) and any(
                _mentions(each, makers) for each in node.decorator_list
            ):
                site = replace(site, kernel=node)
            site = replace(site, function=f"{site.function}.{node.name}".removeprefix("."))
            runs, children = isinstance(node, Function), _without_docstring(node.body)
        elif runs:
            yield site
        runs = runs or isinstance(node, ast.Lambda)
        for child in children:
            yield from visit(replace(site, node=child, parents=(*site.parents, node)), runs)

    yield from visit(Site(tree, (), "", None, text), runs=False)


def last_name(node: ast.AST) -> str:
    """The last word of a dotted name: "load" of "tl.load"; empty if the node is no such name."""
    return _dotted(node).split(".")[-1]


def first_line(function: Function) -> int:
    """The line where Python lets the function begin: that of its first decorator."""
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The children that are evaluated when the node is, and that are no text for a reader."""
    match node:
        case ast.JoinedStr() | ast.Raise() | ast.Import() | ast.ImportFrom() | ast.Delete() | ast.Global():
            return
        case ast.Lambda():
            yield node.body
        case ast.Assert():
            yield node.test
        case ast.AnnAssign():
            if node.value is not None and last_name(node.annotation) != "constexpr":
                yield node.value
        case ast.match_case():
            yield from [node.guard] if node.guard is not None else []
            yield from node.body
        case ast.Call() if last_name(node.func) in PRINTED:
            return
        case ast.Call() if last_name(node.func) in REFUSALS:
            yield from node.args[:1]
        case ast.keyword() if node.arg in OTHER_OPTIONS:
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_text else body


def _called(node: ast.AST) -> ast.AST:
    """The function of a call, or the node itself."""
    return _called(node.func) if isinstance(node, ast.Call) else node


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _makers_of_kernels(tree: ast.Module) -> set[str]:
    """The names of triton.jit in this module, and of what it makes from it, such as a partial of it."""
    makers = set()
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Import):
            makers |= {f"{each.asname or each.name}.jit" for each in statement.names if each.name == "triton"}
        elif isinstance(statement, ast.ImportFrom) and statement.module in ("triton", "triton.runtime.jit"):
            makers |= {each.asname or each.name for each in statement.names if each.name == "jit"}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _mentions(statement.value, makers):
            makers |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return makers


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(_dotted(each) in names for each in ast.walk(node))
