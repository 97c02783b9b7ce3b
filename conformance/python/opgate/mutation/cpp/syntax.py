"""The syntax trees of C++ and CUDA sources, and which of their nodes a running program evaluates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

# What stands in one of these is decided by the compiler, or is no expression.
DECIDED_BY_THE_COMPILER = {
    "template_argument_list",
    "template_parameter_list",
    "static_assert_declaration",
    "array_declarator",
    "sizeof_expression",
    "alignas_qualifier",
    "decltype",
    "noexcept",
    "attribute_declaration",
    "attribute_specifier",
    "enumerator",
    "bitfield_clause",
    "requires_clause",
    "requires_expression",
    "concept_definition",
    "using_declaration",
    "alias_declaration",
    "type_definition",
    "type_descriptor",
    "preproc_def",
    "preproc_function_def",
    "preproc_include",
    "launch_bounds",
    "string_literal",
    "ERROR",
}
# The text of a refusal is asked by a spec only if it says so, and its numbers are those of the arguments.
REFUSALS = ("TORCH_CHECK", "TORCH_SYM_CHECK", "TORCH_INTERNAL_ASSERT", "TORCH_WARN", "AT_ERROR", "C10_THROW")


def parsed(source: bytes) -> Tree:
    """The tree of a source in C++ or CUDA. Raises ImportError without the package tree-sitter-cuda."""
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language())).parse(source)


def text(node: Node | None) -> str:
    """The source of the node; empty for None."""
    return "" if node is None else (node.text or b"").decode(errors="replace")


def field(node: Node | None, name: str) -> Node | None:
    """The child in this role; None if there is none."""
    return None if node is None else node.child_by_field_name(name)


def fields(node: Node, *names: str) -> list[Node | None]:
    """The children in these roles."""
    return [field(node, name) for name in names]


def declared(node: Node | None) -> Node | None:
    """What names the function or variable that a definition or declarator declares."""
    found = field(node, "declarator")
    while (inner := field(found, "declarator")) is not None:
        found = inner
    return found


def called(node: Node) -> Node | None:
    """The last word of the name of the function that this expression calls."""
    function = field(node, "function") if node.type == "call_expression" else None
    while function is not None and function.type in (
        "qualified_identifier",
        "template_function",
        "field_expression",
    ):
        function = field(function, "field" if function.type == "field_expression" else "name")
    return function


def within(node: Node) -> Iterator[Node]:
    """The nodes around this one, the innermost first."""
    at = node.parent
    while at is not None:
        yield at
        at = at.parent


def every_node(node: Node) -> Iterator[Node]:
    """The node and all nodes in it, outer ones first."""
    yield node
    for child in node.children:
        yield from every_node(child)


def run_time_nodes(
    node: Node, is_left_alone: Callable[[Node], bool], in_function: bool = False
) -> Iterator[Node]:
    """The nodes in bodies of functions that are evaluated while the program runs, outer ones first."""
    if node.type in DECIDED_BY_THE_COMPILER or _is_constant(node) or _registers(node) or is_left_alone(node):
        return
    if in_function:
        yield node
    in_function = in_function or node.type == "compound_statement"
    for child in _evaluated(node):
        yield from run_time_nodes(child, is_left_alone, in_function)


def not_understood(node: Node) -> Iterator[Node]:
    """The places where the source is no C++ without its preprocessor."""
    if node.type == "ERROR" or node.is_missing:
        yield node
        return
    for child in node.children:
        yield from not_understood(child)


def _is_constant(node: Node) -> bool:
    return node.type in ("declaration", "field_declaration") and any(
        child.type == "type_qualifier" and text(child) in ("constexpr", "consteval")
        for child in node.children
    )


def _registers(node: Node) -> bool:
    """Whether this is the body of TORCH_LIBRARY or the like, which runs while the library is loaded."""
    return node.type == "function_definition" and text(field(node, "declarator")).startswith("TORCH_LIBRARY")


def _evaluated(node: Node) -> Iterator[Node]:
    condition = field(node, "condition")
    constexpr_if = node.type == "if_statement" and any(child.type == "constexpr" for child in node.children)
    for child in node.children:
        if constexpr_if and child == condition:
            continue
        if node.type == "case_statement" and child == field(node, "value"):
            continue
        if node.type == "argument_list" and _is_message(node, child):
            continue
        yield child


def _is_message(arguments: Node, argument: Node) -> bool:
    """Whether this is an argument of a refusal after its condition."""
    is_refusal = text(field(arguments.parent, "function")).startswith(REFUSALS)
    return is_refusal and argument.is_named and argument != arguments.named_children[0]


def function_around(node: Node) -> str:
    """The name of the function that contains the node."""
    functions = (outer for outer in within(node) if outer.type == "function_definition")
    return text(declared(next(functions, None)))
