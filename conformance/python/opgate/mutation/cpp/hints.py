"""Which code of C++ and CUDA sources is a hint: it makes a program faster, and changes no result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opgate.mutation.cpp.syntax import called, declared, every_node, field, fields, text, within

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
        nodes = list(every_node(root))
        self._grains = {
            argument.id
            for node in nodes
            if (place := GRAINS.get(text(called(node)))) is not None
            for argument in _arguments(node)[place : place + 1]
        }
        self._functions = set(FUNCTIONS)
        definitions: dict[str, list[Node]] = {}
        for node in nodes:
            if node.type == "function_definition":
                definitions.setdefault(text(declared(node)), []).append(node)
        for name, overloads in definitions.items():
            bodies = [field(each, "body") for each in overloads]
            if all(body is not None and self._is_statement(body) for body in bodies):
                self._functions.add(name)
        self._of_grains = self._named_in_grains_alone(nodes, set(definitions))

    def has(self, node: Node) -> bool:
        """Whether the node is a hint: a statement, the value of a grain, or what computes it."""
        if node.id in self._grains or self._is_statement(node):
            return True
        name = text(declared(node))
        if node.type == "function_definition" and name in self._functions:
            return True
        return node.type in ("function_definition", "init_declarator") and name in self._of_grains

    def _is_statement(self, node: Node) -> bool:
        if node.type == "expression_statement":
            return any(text(called(child)) in self._functions for child in node.named_children[:1])
        inner = [child for child in node.named_children if child.type != "comment"]
        if node.type in ("compound_statement", "else_clause"):
            return bool(inner) and all(self._is_statement(child) for child in inner)
        if node.type not in REPEATED_OR_CHOSEN:
            return False
        done = [part for part in fields(node, "body", "consequence", "alternative") if part is not None]
        # A call in a condition may do more than the hint.
        asked = [child for child in inner if child not in done]
        return all(self._is_statement(part) for part in done) and not any(
            each.type == "call_expression" for child in asked for each in every_node(child)
        )

    def _named_in_grains_alone(self, nodes: list[Node], functions: set[str]) -> set[str]:
        """Functions and variables of which nothing but grains are computed."""
        names = {text(declared(node)) for node in nodes if node.type == "init_declarator"} | functions
        uses: dict[str, list[bool]] = {}
        for node in nodes:
            if node.type != "identifier" or text(node) not in names or _declares(node):
                continue
            in_grain = any(outer.id in self._grains for outer in (node, *within(node)))
            uses.setdefault(text(node), []).append(in_grain)
        return {name for name, in_grains in uses.items() if all(in_grains)}


def _arguments(call: Node) -> list[Node]:
    arguments = field(call, "arguments")
    return [] if arguments is None else [each for each in arguments.named_children if each.type != "comment"]


def _declares(identifier: Node) -> bool:
    """Whether the identifier stands where its name is declared, and not where it is used."""
    return field(identifier.parent, "declarator") == identifier
