"""The kinds of mutants of any C++ program: comparisons, arithmetic, constants, conditions, deletions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opgate.mutation.cpp.buffers import is_in_size_of_buffer
from opgate.mutation.cpp.change import change, instead, left_out
from opgate.mutation.cpp.syntax import field, fields, text, within
from opgate.mutation.mutant import Mutant
from opgate.mutation.tables import COMPARISONS, LONGEST

if TYPE_CHECKING:
    from tree_sitter import Node

ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/"}
LOGIC = {"&&": "||", "||": "&&"}
ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "+=", "/=": "*="}
UNARY = {"!": ("logic", "!!({})"), "-": ("arithmetic", "-(-({}))")}
THIRD = 2


def of_binary(node: Node) -> Iterator[Mutant]:
    """a < b as a <= b, a + b as a - b, a && b as a || b."""
    left, operator, right = map(text, fields(node, "left", "operator", "right"))
    if _is_long(node):
        return
    for kind, table in (("comparison", COMPARISONS), ("arithmetic", ARITHMETIC), ("logic", LOGIC)):
        if kind == "comparison" and _chooses_between_its_operands(node):
            continue
        if (other := table.get(operator)) is not None:
            # In parentheses, because the other operator may bind its operands less than theirs.
            yield instead(node, kind, f"({left}) {other} ({right})", f"{left} {other} {right}")


def _chooses_between_its_operands(comparison: Node) -> bool:
    """Whether this is the condition of a < b ? a : b: equal operands differ at most in the sign of a zero."""
    if text(field(comparison, "operator")) not in ("<", "<=", ">", ">="):
        return False
    inner, outer = comparison, comparison.parent
    while outer is not None and outer.type in ("parenthesized_expression", "condition_clause"):
        inner, outer = outer, outer.parent
    if outer is None or outer.type != "conditional_expression" or field(outer, "condition") != inner:
        return False
    operands = set(map(text, fields(comparison, "left", "right")))
    chosen = set(map(text, fields(outer, "consequence", "alternative")))
    has_effects = any(sign in each for each in operands for sign in ("++", "--", "(", "="))
    return operands == chosen and not has_effects


def of_compound_assignment(node: Node) -> Iterator[Mutant]:
    """a += b as a -= b."""
    left, operator, right = map(text, fields(node, "left", "operator", "right"))
    if operator in ASSIGNMENTS and not _is_long(node):
        yield instead(node, "arithmetic", f"{left} {ASSIGNMENTS[operator]} {right}")


def of_bool(node: Node) -> Iterator[Mutant]:
    """true as false."""
    yield instead(node, "constant", "false" if node.type == "true" else "true")


def of_number(node: Node) -> Iterator[Mutant]:
    """n as n + 1; in the size of a buffer, n as n - 1."""
    if _is_in_braces(node) or _is_no_shared_memory(node):
        return
    number = text(node)
    if number.isdigit() and is_in_size_of_buffer(node) and not _divides(node):
        if number != "0":
            yield instead(node, "constant", str(int(number) - 1))
    elif number.isdigit():
        yield instead(node, "constant", "0" if number == "1" else str(int(number) + 1))
    elif number.replace(".", "", 1).isdigit():
        yield instead(node, "constant", f"{number} + 1")


def _divides(node: Node) -> bool:
    return text(field(node.parent, "operator")) in ("/", "%", "-") and field(node.parent, "right") == node


def _is_no_shared_memory(node: Node) -> bool:
    """Whether this is the 0 of k<<<grid, block, 0, stream>>>: a byte that no kernel uses goes unnoticed."""
    launch = node.parent
    return (
        launch is not None
        and launch.type == "kernel_call_syntax"
        and text(node) == "0"
        and launch.named_children.index(node) == THIRD
    )


def of_unary(node: Node) -> Iterator[Mutant]:
    """!a as a, -a as a."""
    operator, operand = map(text, fields(node, "operator", "argument"))
    if operator in UNARY and not _is_long(node):
        kind, code = UNARY[operator]
        yield instead(node, kind, code.format(operand))


def of_condition(node: Node) -> Iterator[Mutant]:
    """if (a) as if (false): a guard, an early return or a tail that is missing."""
    condition = field(node, "condition")
    value = field(condition, "value")
    if value is None or value.type == "declaration" or field(condition, "initializer") is not None:
        return
    if any(child.type == "constexpr" for child in node.children):
        return
    yield change(value, "condition", "(!OPGATE_CHOSEN && (", "))", "false")
    if field(node, "alternative") is not None:
        yield change(value, "condition", "(OPGATE_CHOSEN || (", "))", "true")


def of_choice(node: Node) -> Iterator[Mutant]:
    """a ? b : c as the one or the other, by its condition."""
    condition = field(node, "condition")
    if condition is not None and not is_in_size_of_buffer(node):
        yield change(condition, "condition", "(!OPGATE_CHOSEN && (", "))", "false")
        yield change(condition, "condition", "(OPGATE_CHOSEN || (", "))", "true")


def of_statement(node: Node) -> Iterator[Mutant]:
    """A statement that is missing: an assignment, a call, a barrier."""
    expression = node.named_children[0].type if node.named_children else ""
    if expression in ("assignment_expression", "call_expression", "update_expression"):
        yield left_out(node, "deletion")


EVERYWHERE = {
    "binary_expression": (of_binary,),
    "assignment_expression": (of_compound_assignment,),
    "true": (of_bool,),
    "false": (of_bool,),
    "number_literal": (of_number,),
    "unary_expression": (of_unary,),
    "if_statement": (of_condition,),
    "conditional_expression": (of_choice,),
    "expression_statement": (of_statement,),
}
"""By the type of the node that they change."""


def _is_long(node: Node) -> bool:
    """Whether the node is too long to stand in the source a second time, or has a function in it."""
    return len(text(node)) > LONGEST or "[&" in text(node) or "[=" in text(node)


def _is_in_braces(node: Node) -> bool:
    """Whether a list in braces may forbid that the number becomes an expression of type int."""
    return any(outer.type == "initializer_list" for outer in list(within(node))[:2])
