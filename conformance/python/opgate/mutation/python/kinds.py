"""The kinds of mutants of any Python program, kernels in Triton among them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from opgate.mutation import tables
from opgate.mutation.python.change import PythonChange, change, instead, left_out
from opgate.mutation.python.syntax import Site, last_name

COMPARISONS = tables.COMPARISONS | {"is not": "is", "is": "is not", "not in": "in", "in": "not in"}
COMPARISON_NODES: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
    "is": ast.Is,
    "is not": ast.IsNot,
    "in": ast.In,
    "not in": ast.NotIn,
}
COMPARISON_WORDS = {node: word for word, node in COMPARISON_NODES.items()}
OPERATORS: dict[type[ast.operator], tuple[str, str, str, type[ast.operator]]] = {
    ast.Add: ("arithmetic", "+", "-", ast.Sub),
    ast.Sub: ("arithmetic", "-", "+", ast.Add),
    ast.Mult: ("arithmetic", "*", "+", ast.Add),
    ast.Div: ("arithmetic", "/", "*", ast.Mult),
    ast.FloorDiv: ("arithmetic", "//", "*", ast.Mult),
    ast.Mod: ("arithmetic", "%", "//", ast.FloorDiv),
    ast.BitAnd: ("logic", "&", "|", ast.BitOr),
    ast.BitOr: ("logic", "|", "&", ast.BitAnd),
}


def of_comparison(site: Site) -> Iterator[PythonChange]:
    """a < b as a <= b."""
    node = site.node
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for index, operator in enumerate(node.ops):
        old = COMPARISON_WORDS[type(operator)]
        new = COMPARISONS[old]
        changed = copy.copy(node)
        changed.ops = [*node.ops[:index], COMPARISON_NODES[new](), *node.ops[index + 1 :]]
        yield instead(site, "comparison", _with_operator(site, operands, [index], old, new, changed))


def of_operator(site: Site) -> Iterator[PythonChange]:
    """a + b as a - b, a & b as a | b."""
    node = site.node
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS or _is_text(node.left, node.right):
        return
    kind, old, new, made = OPERATORS[type(node.op)]
    changed = copy.copy(node)
    changed.op = made()
    yield instead(site, kind, _with_operator(site, [node.left, node.right], [0], old, new, changed))


def of_logic(site: Site) -> Iterator[PythonChange]:
    """a and b as a or b."""
    node = site.node
    if not isinstance(node, ast.BoolOp):
        return
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    changed = copy.copy(node)
    changed.op = ast.Or() if old == "and" else ast.And()
    gaps = range(len(node.values) - 1)
    yield instead(site, "logic", _with_operator(site, node.values, gaps, old, new, changed))


def of_unary(site: Site) -> Iterator[PythonChange]:
    """not a as a, ~a as a, -a as a."""
    node = site.node
    if not isinstance(node, ast.UnaryOp):
        return
    operand = site.text.in_one_line(node.operand)
    match node.op:
        case ast.Not():
            yield instead(site, "logic", f"not not ({operand})", f"not not {operand}")
        case ast.Invert():
            yield instead(site, "logic", operand)
        case ast.USub():
            yield instead(site, "arithmetic", operand)


def of_sum(site: Site) -> Iterator[PythonChange]:
    """a += b as a -= b."""
    node = site.parent
    if not isinstance(node, ast.AugAssign) or site.node is not node.value or _is_text(node.value):
        return
    if isinstance(node.op, ast.Add | ast.Sub):
        value = site.text.in_one_line(node.value)
        yield instead(site, "arithmetic", f"-({value})", f"-({value})")


def of_constant(site: Site) -> Iterator[PythonChange]:
    """n as n + 1, and True as False."""
    node = site.node
    if not isinstance(node, ast.Constant):
        return
    match node.value:
        case bool():
            yield instead(site, "constant", str(not node.value))
        case int():
            yield instead(site, "constant", "0" if node.value == 1 else str(node.value + 1))
        case float():
            yield instead(site, "constant", f"{site.text.of(node)} + 1")


def of_condition(site: Site) -> Iterator[PythonChange]:
    """if a as if False, and both sides of a if c else b."""
    owner = site.parent
    if not isinstance(owner, ast.If | ast.IfExp) or site.node is not owner.test:
        return
    yield change(site, "condition", "(not OPGATE_CHOSEN and (", "))", "False", "False")
    if owner.orelse:
        yield change(site, "condition", "(OPGATE_CHOSEN or (", "))", "True", "True")


def of_statement(site: Site) -> Iterator[PythonChange]:
    """A statement that is missing: a call, or an assignment to what has a value before."""
    node = site.node
    if not isinstance(node, ast.stmt) or not site.text.has_lines_of_its_own(node):
        return
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield left_out(site, "deletion")
        case ast.Assign() if all(_had_value(site, target) for target in node.targets):
            yield left_out(site, "deletion")


def of_swapped_arguments(site: Site) -> Iterator[PythonChange]:
    """where(c, a, b) as where(c, b, a), and two arguments that are parameters of one annotated type."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
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
    of_comparison,
    of_operator,
    of_logic,
    of_unary,
    of_sum,
    of_constant,
    of_condition,
    of_statement,
    of_swapped_arguments,
)


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


def _with_operator(
    site: Site, operands: list[ast.expr], gaps: Sequence[int], old: str, new: str, changed: ast.expr
) -> str:
    """The node with another operator in these gaps between operands. `changed` is that node."""
    node = site.node
    assert isinstance(node, ast.expr)
    text = site.text
    if "\n" in text.of(node):
        return ast.unparse(changed)
    pieces = [text.between(text.begin(node), text.end(operands[0]))]
    for index, operand in enumerate(operands[1:]):
        gap = text.between(text.end(operands[index]), text.begin(operand))
        pieces += [gap.replace(old, new, 1) if index in gaps else gap, text.of(operand)]
    return "".join(pieces) + text.between(text.end(operands[-1]), text.end(node))


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
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return any(each.arg == target.id for each in parameters) or any(
        isinstance(each, ast.Name)
        and each.id == target.id
        and isinstance(each.ctx, ast.Store)
        and each.lineno < line
        for each in ast.walk(function)
    )


def _annotations(site: Site) -> dict[str, str]:
    function = site.around
    if function is None:
        return {}
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {
        each.arg: ast.unparse(each.annotation)
        for each in parameters
        if each.annotation is not None and last_name(each.annotation) != "constexpr"
    }
