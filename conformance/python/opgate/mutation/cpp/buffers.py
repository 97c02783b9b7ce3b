"""Which numbers are in the size of a local buffer, where no result depends on elements that are too many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opgate.mutation.cpp.syntax import field, text, within

if TYPE_CHECKING:
    from tree_sitter import Node


def is_in_size_of_buffer(node: Node) -> bool:
    """Whether the node is in n of `std::vector<T> v(n)`, if the function uses only v.data() and v[i]."""
    inner = node
    for outer in within(node):
        if outer.type in ("compound_statement", "lambda_expression"):
            return False
        declarator = outer.parent
        if outer.type == "argument_list" and declarator is not None and declarator.type == "init_declarator":
            return (
                outer.named_children[0] == inner
                and _declares_vector(declarator.parent)
                and _is_used_by_element(declarator)
            )
        inner = outer
    return False


def _declares_vector(declaration: Node | None) -> bool:
    of_type = field(declaration, "type") if declaration is not None else None
    return of_type is not None and text(of_type).startswith(("std::vector<", "vector<"))


def _is_used_by_element(declarator: Node) -> bool:
    """Whether each use of the buffer in its block is `name.data()` or `name[i]`."""
    name = field(declarator, "declarator")
    block = next((outer for outer in within(declarator) if outer.type == "compound_statement"), None)
    if name is None or block is None:
        return False
    return all(
        _is_access(use)
        for use in _identifiers(block)
        if text(use) == text(name) and use.start_byte > declarator.end_byte
    )


def _is_access(use: Node) -> bool:
    parent = use.parent
    if parent is None:
        return False
    member = field(parent, "field")
    return parent.type == "subscript_expression" or (member is not None and text(member) == "data")


def _identifiers(node: Node) -> Iterator[Node]:
    if node.type == "identifier":
        yield node
    for child in node.children:
        yield from _identifiers(child)
