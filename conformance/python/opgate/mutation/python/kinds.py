"""The kinds of mutants of any Python program, kernels in Triton among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from opgate.mutation import tables
from opgate.mutation.python.change import PythonMutant, change, instead, left_out
from opgate.mutation.python.syntax import Site, Text, last_name

COMPARISONS = tables.COMPARISONS | {"is not": "is", "is": "is not", "not in": "in", "in": "not in"}
COMPARISON_WORDS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
OPERATORS: dict[type[ast.operator], tuple[str, str, str]] = {
    ast.Add: ("arithmetic", "+", "-"),
    ast.Sub: ("arithmetic", "-", "+"),
    ast.Mult: ("arithmetic", "*", "+"),
    ast.Div: ("arithmetic", "/", "*"),
    ast.FloorDiv: ("arithmetic", "//", "*"),
    ast.Mod: ("arithmetic", "%", "//"),
    ast.BitAnd: ("logic", "&", "|"),
    ast.BitOr: ("logic", "|", "&"),
}


def of_comparison(site: Site, node: ast.Compare) -> Iterator[PythonMutant]:
    """a < b as a <= b."""
    for index, operator in enumerate(node.ops):
        old = COMPARISON_WORDS[type(operator)]
        yield instead(site, "comparison", _with_operator(site, node, [index], old, COMPARISONS[old]))


def of_operator(site: Site, node: ast.BinOp) -> Iterator[PythonMutant]:
    """a + b as a - b, a & b as a | b."""
    if type(node.op) in OPERATORS and not _is_text(node.left, node.right):
        kind, old, new = OPERATORS[type(node.op)]
        yield instead(site, kind, _with_operator(site, node, [0], old, new))


def of_logic(site: Site, node: ast.BoolOp) -> Iterator[PythonMutant]:
    """a and b as a or b."""
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    yield instead(site, "logic", _with_operator(site, node, range(len(node.values)), old, new))


def of_unary(site: Site, node: ast.UnaryOp) -> Iterator[PythonMutant]:
    """not a as a, ~a as a, -a as a."""
    operand = site.text.in_one_line(node.operand)
    match node.op:
        case ast.Not():
            yield instead(site, "logic", f"not not ({operand})", f"not not {operand}")
        case ast.Invert():
            yield instead(site, "logic", operand)
        case ast.USub():
            yield instead(site, "arithmetic", operand)


def of_sum(site: Site, node: ast.expr) -> Iterator[PythonMutant]:
    """a += b as a -= b."""
    owner = site.parent
    is_added = isinstance(owner, ast.AugAssign) and isinstance(owner.op, ast.Add | ast.Sub)
    if is_added and node is owner.value and not _is_text(node):
        yield instead(site, "arithmetic", f"-({site.text.in_one_line(node)})")


def of_constant(site: Site, node: ast.Constant) -> Iterator[PythonMutant]:
    """n as n + 1, and True as False."""
    match node.value:
        case bool():
            yield instead(site, "constant", str(not node.value))
        case int():
            yield instead(site, "constant", "0" if node.value == 1 else str(node.value + 1))
        case float():
            yield instead(site, "constant", f"{site.text.of(node)} + 1")


def of_condition(site: Site, node: ast.expr) -> Iterator[PythonMutant]:
    """if a as if False, and both sides of a if c else b."""
    owner = site.parent
    if not isinstance(owner, ast.If | ast.IfExp) or node is not owner.test:
        return
    yield change(site, "condition", "(not OPGATE_CHOSEN and (", "))", "False", "False")
    if owner.orelse:
        yield change(site, "condition", "(OPGATE_CHOSEN or (", "))", "True", "True")


def of_statement(site: Site, node: ast.stmt) -> Iterator[PythonMutant]:
    """A statement that is missing: a call, or an assignment to what has a value before."""
    if not site.text.has_lines_of_its_own(node):
        return
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield left_out(site, "deletion")
        case ast.Assign() if all(_had_value(site, target) for target in node.targets):
            yield left_out(site, "deletion")


def of_swapped_arguments(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """where(c, a, b) as where(c, b, a), and two arguments that are parameters of one annotated type."""
    given = [site.text.in_one_line(argument) for argument in node.args]
    if last_name(node.func) == "where" and len(given) == 3:
        at = 1
    elif last_name(node.func) == "save_for_backward" and len(given) > 1:
        at = 0
    else:
        types = _annotations(site)
        names = [types.get(each.id) if isinstance(each, ast.Name) else None for each in node.args]
        pairs = [i for i, (a, b) in enumerate(zip(names, names[1:], strict=False)) if a and a == b]
        if not pairs:
            return
        at = pairs[0]
    if given[at] == given[at + 1] or any(isinstance(each, ast.Starred) for each in node.args[: at + 2]):
        return
    given[at], given[at + 1] = given[at + 1], given[at]
    named = [_keyword(site, each) for each in node.keywords]
    yield instead(
        site, "swapped arguments", f"{site.text.in_one_line(node.func)}({', '.join([*given, *named])})"
    )


EVERYWHERE = (
    (ast.Compare, of_comparison),
    (ast.BinOp, of_operator),
    (ast.BoolOp, of_logic),
    (ast.UnaryOp, of_unary),
    (ast.expr, of_sum),
    (ast.Constant, of_constant),
    (ast.expr, of_condition),
    (ast.stmt, of_statement),
    (ast.Call, of_swapped_arguments),
)
"""Each with the type of the nodes that it changes."""


def is_long(site: Site) -> bool:
    """Whether the node is too long to stand in the source a second time."""
    node = site.node
    return isinstance(node, ast.expr) and len(site.text.of(node)) > tables.LONGEST


def call_with(site: Site, call: ast.Call, without: Sequence[str | int]) -> str:
    """The call without the arguments at these places or with these names."""
    given = [site.text.in_one_line(each) for at, each in enumerate(call.args) if at not in without]
    given += [_keyword(site, each) for each in call.keywords if each.arg not in without]
    return f"{site.text.in_one_line(call.func)}({', '.join(given)})"


def _keyword(site: Site, keyword: ast.keyword) -> str:
    value = site.text.in_one_line(keyword.value)
    return f"**{value}" if keyword.arg is None else f"{keyword.arg}={value}"


def _with_operator(site: Site, node: ast.expr, gaps: Sequence[int], old: str, new: str) -> str:
    """The node with another operator in these gaps between its operands."""
    code = Text(site.text.in_one_line(node).encode())
    parts = ast.iter_child_nodes(ast.parse(code.content, mode="eval").body)
    made, end = "", 0
    for gap, operand in enumerate((part for part in parts if isinstance(part, ast.expr)), start=-1):
        between = code.between(end, code.begin(operand))
        made += (between.replace(old, new, 1) if gap in gaps else between) + code.of(operand)
        end = code.end(operand)
    return made + code.between(end, len(code.content))


def _is_text(*operands: ast.expr) -> bool:
    """Whether one of them is a string or a list, which are put together and not added up."""
    return any(
        isinstance(each, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str | bytes))
        for each in operands
    )


def _had_value(site: Site, target: ast.expr) -> bool:
    """Whether the target of an assignment has a value before it, so that the function runs without it."""
    if isinstance(target, ast.Tuple | ast.List):
        return all(_had_value(site, each) for each in target.elts)
    if isinstance(target, ast.Attribute | ast.Subscript):
        return True
    function = site.around
    if not isinstance(target, ast.Name) or function is None:
        return False
    assert isinstance(site.node, ast.stmt)
    line = site.node.lineno
    return any(each.arg == target.id for each in _parameters(site)) or any(
        isinstance(each, ast.Name)
        and each.id == target.id
        and isinstance(each.ctx, ast.Store)
        and each.lineno < line
        for each in ast.walk(function)
    )


def _parameters(site: Site) -> list[ast.arg]:
    """Those of the innermost function, each of which has a name of its own."""
    if site.around is None:
        return []
    given = site.around.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _annotations(site: Site) -> dict[str, str]:
    return {
        each.arg: ast.unparse(each.annotation)
        for each in _parameters(site)
        if each.annotation is not None and last_name(each.annotation) != "constexpr"
    }
