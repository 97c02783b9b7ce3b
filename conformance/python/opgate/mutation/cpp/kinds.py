"""The kinds of mutants of any C++ program: comparisons, arithmetic, constants, conditions, deletions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opgate.mutation.cpp.buffers import is_in_size_of_buffer
from opgate.mutation.cpp.change import change, instead, left_out
from opgate.mutation.cpp.syntax import field, text, within
from opgate.mutation.mutant import Change
from opgate.mutation.tables import COMPARISONS, LONGEST

if TYPE_CHECKING:
    from tree_sitter import Node

ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/"}
LOGIC = {"&&": "||", "||": "&&"}
ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "+=", "/=": "*="}
THIRD = 2


def of_binary(node: Node) -> Iterator[Change]:
    """a < b as a <= b, a + b as a - b, a && b as a || b."""
    if node.type != "binary_expression" or _is_long(node):
        return
    left, operator, right = (field(node, name) for name in ("left", "operator", "right"))
    if left is None or operator is None or right is None:
        return
    for kind, table in (("comparison", COMPARISONS), ("arithmetic", ARITHMETIC), ("logic", LOGIC)):
        if kind == "comparison" and _chooses_between_its_operands(node):
            continue
        if (other := table.get(text(operator))) is not None:
            # In parentheses, because the other operator may bind its operands less than theirs.
            code = f"({text(left)}) {other} ({text(right)})"
            yield instead(node, kind, code, f"{text(left)} {other} {text(right)}")


def _chooses_between_its_operands(comparison: Node) -> bool:
    """Whether this is the condition of a < b ? a : b: equal operands differ at most in the sign of a zero."""
    if text(field(comparison, "operator") or comparison) not in ("<", "<=", ">", ">="):
        return False
    inner, outer = comparison, comparison.parent
    while outer is not None and outer.type in ("parenthesized_expression", "condition_clause"):
        inner, outer = outer, outer.parent
    if outer is None or outer.type != "conditional_expression" or field(outer, "condition") != inner:
        return False
    operands = {text(each) for name in ("left", "right") if (each := field(comparison, name)) is not None}
    chosen = {
        text(each) for name in ("consequence", "alternative") if (each := field(outer, name)) is not None
    }
    has_effects = any(sign in each for each in operands for sign in ("++", "--", "(", "="))
    return operands == chosen and not has_effects


def of_compound_assignment(node: Node) -> Iterator[Change]:
    """a += b as a -= b."""
    if node.type != "assignment_expression" or _is_long(node):
        return
    left, operator, right = (field(node, name) for name in ("left", "operator", "right"))
    if left is None or operator is None or right is None:
        return
    if (other := ASSIGNMENTS.get(text(operator))) is not None:
        yield instead(node, "arithmetic", f"{text(left)} {other} {text(right)}")


def of_number(node: Node) -> Iterator[Change]:
    """n as n + 1, and true as false; in the size of a buffer, n as n - 1."""
    if node.type in ("true", "false"):
        yield instead(node, "constant", "false" if node.type == "true" else "true")
    if node.type != "number_literal" or _is_in_braces(node) or _is_no_shared_memory(node):
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
    parent = node.parent
    operator = field(parent, "operator") if parent is not None else None
    return operator is not None and text(operator) in ("/", "%", "-") and field(parent, "right") == node


def _is_no_shared_memory(node: Node) -> bool:
    """Whether this is the 0 of k<<<grid, block, 0, stream>>>: a byte that no kernel uses goes unnoticed."""
    launch = node.parent
    return (
        launch is not None
        and launch.type == "kernel_call_syntax"
        and text(node) == "0"
        and launch.named_children.index(node) == THIRD
    )


def of_not(node: Node) -> Iterator[Change]:
    """!a as a."""
    operand = field(node, "argument") if node.type == "unary_expression" else None
    operator = field(node, "operator")
    if operand is not None and operator is not None and text(operator) == "!" and not _is_long(node):
        yield instead(node, "logic", f"!!({text(operand)})")


def of_minus(node: Node) -> Iterator[Change]:
    """-a as a."""
    operand = field(node, "argument") if node.type == "unary_expression" else None
    operator = field(node, "operator")
    if operand is not None and operator is not None and text(operator) == "-" and not _is_long(node):
        yield instead(node, "arithmetic", f"-(-({text(operand)}))")


def of_condition(node: Node) -> Iterator[Change]:
    """if (a) as if (false): a guard, an early return or a tail that is missing."""
    if node.type != "if_statement" or any(child.type == "constexpr" for child in node.children):
        return
    condition = field(node, "condition")
    value = field(condition, "value") if condition is not None else None
    if condition is None or value is None or field(condition, "initializer") is not None:
        return
    if value.type != "declaration":
        yield change(value, "condition", "(!OPGATE_CHOSEN && (", "))", "false")
    if field(node, "alternative") is not None and value.type != "declaration":
        yield change(value, "condition", "(OPGATE_CHOSEN || (", "))", "true")


def of_choice(node: Node) -> Iterator[Change]:
    """a ? b : c as the one or the other, by its condition."""
    condition = field(node, "condition") if node.type == "conditional_expression" else None
    if condition is not None and not is_in_size_of_buffer(node):
        yield change(condition, "condition", "(!OPGATE_CHOSEN && (", "))", "false")
        yield change(condition, "condition", "(OPGATE_CHOSEN || (", "))", "true")


def of_statement(node: Node) -> Iterator[Change]:
    """A statement that is missing: an assignment, a call, a barrier."""
    if node.type != "expression_statement" or not node.named_children:
        return
    expression = node.named_children[0]
    if expression.type in ("assignment_expression", "call_expression", "update_expression"):
        yield left_out(node, "deletion")


EVERYWHERE = (
    of_binary,
    of_compound_assignment,
    of_number,
    of_not,
    of_minus,
    of_condition,
    of_choice,
    of_statement,
)


def _is_long(node: Node) -> bool:
    """Whether the node is too long to stand in the source a second time, or has a function in it."""
    return len(text(node)) > LONGEST or "[&" in text(node) or "[=" in text(node)


def _is_in_braces(node: Node) -> bool:
    """Whether a list in braces may forbid that the number becomes an expression of type int."""
    return any(outer.type == "initializer_list" for outer in list(within(node))[:2])
