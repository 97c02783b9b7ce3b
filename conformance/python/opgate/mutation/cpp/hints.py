"""Which code of C++ and CUDA sources is a hint: it makes a program faster, and changes no result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opgate.mutation.cpp.syntax import called, field, text, within

if TYPE_CHECKING:
    from tree_sitter import Node

# Functions that only move memory, reserve it, or wait.
FUNCTIONS = {
    "__builtin_prefetch",
    "_mm_prefetch",
    "__prefetch_global_l1",
    "__prefetch_global_l2",
    "__nanosleep",
    "cudaMemPrefetchAsync",
    "cudaMemAdvise",
    "cudaFuncSetCacheConfig",
    "cudaDeviceSetCacheConfig",
    "reserve",
    "shrink_to_fit",
}
# The number of the argument that says how many elements are worth a thread.
GRAINS = {"parallel_for": 2, "parallel_reduce": 2}
REPEATED_OR_CHOSEN = ("for_statement", "while_statement", "if_statement")


class Hints:
    """The hints of one source."""

    def __init__(self, root: Node) -> None:
        nodes = list(_all(root))
        self._grains = {
            argument.id
            for node in nodes
            if (name := called(node)) is not None and text(name) in GRAINS
            for argument in _arguments(node)[GRAINS[text(name)] : GRAINS[text(name)] + 1]
        }
        self._functions = set(FUNCTIONS)
        definitions: dict[str, list[Node]] = {}
        for node in nodes:
            if node.type == "function_definition":
                definitions.setdefault(_name(node), []).append(node)
        for name, overloads in definitions.items():
            bodies = [field(each, "body") for each in overloads]
            if all(body is not None and self._is_statement(body) for body in bodies):
                self._functions.add(name)
        self._of_grains = self._named_in_grains_alone(nodes, set(definitions))

    def has(self, node: Node) -> bool:
        """Whether the node is a hint: a statement, the value of a grain, or what computes it."""
        if node.id in self._grains or self._is_statement(node):
            return True
        if node.type == "function_definition":
            return _name(node) in self._of_grains or _name(node) in self._functions
        return node.type == "init_declarator" and _name(node) in self._of_grains

    def _is_statement(self, node: Node) -> bool:
        if node.type == "expression_statement":
            name = called(node.named_children[0]) if node.named_children else None
            return name is not None and text(name) in self._functions
        inner = [child for child in node.named_children if child.type != "comment"]
        if node.type in ("compound_statement", "else_clause"):
            return bool(inner) and all(self._is_statement(child) for child in inner)
        if node.type not in REPEATED_OR_CHOSEN:
            return False
        parts = [field(node, name) for name in ("body", "consequence", "alternative")]
        done = [part for part in parts if part is not None]
        # A call in a condition may do more than the hint.
        asked = [child for child in inner if child not in done]
        return all(self._is_statement(part) for part in done) and not any(
            each.type == "call_expression" for child in asked for each in _all(child)
        )

    def _named_in_grains_alone(self, nodes: list[Node], functions: set[str]) -> set[str]:
        """Functions and variables of which nothing but grains are computed."""
        declared = {_name(node) for node in nodes if node.type == "init_declarator"} | functions
        uses: dict[str, list[bool]] = {}
        for node in nodes:
            if node.type != "identifier" or text(node) not in declared or _declares(node):
                continue
            in_grain = any(outer.id in self._grains for outer in (node, *within(node)))
            uses.setdefault(text(node), []).append(in_grain)
        return {name for name, in_grains in uses.items() if all(in_grains)}


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _all(child)


def _arguments(call: Node) -> list[Node]:
    arguments = field(call, "arguments")
    return [] if arguments is None else [each for each in arguments.named_children if each.type != "comment"]


def _name(node: Node) -> str:
    """The name that a definition or declarator declares."""
    declarator = field(node, "declarator")
    while declarator is not None and (inner := field(declarator, "declarator")) is not None:
        declarator = inner
    return text(declarator) if declarator is not None else ""


def _declares(identifier: Node) -> bool:
    """Whether the identifier stands where its name is declared, and not where it is used."""
    parent = identifier.parent
    return parent is not None and field(parent, "declarator") == identifier
