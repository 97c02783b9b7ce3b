"""Which numbers are in the size of a local buffer, where no result depends on elements that are too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opgate.mutation.cpp.syntax import every_node, field, text, within

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
                and text(field(declarator.parent, "type")).startswith(("std::vector<", "vector<"))
                and _is_used_by_element(declarator)
            )
        inner = outer
    return False


def _is_used_by_element(declarator: Node) -> bool:
    """Whether each use of the buffer in its block is `name.data()` or `name[i]`."""
    name = text(field(declarator, "declarator"))
    block = next((outer for outer in within(declarator) if outer.type == "compound_statement"), None)
    return block is not None and all(
        _is_access(use)
        for use in every_node(block)
        if use.type == "identifier" and text(use) == name and use.start_byte > declarator.end_byte
    )


def _is_access(use: Node) -> bool:
    parent = use.parent
    return parent is not None and (
        parent.type == "subscript_expression" or text(field(parent, "field")) == "data"
    )
