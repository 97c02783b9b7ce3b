"""The kinds of mutants of operators: layouts, memory, devices, accumulators and derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opgate.mutation import tables
from opgate.mutation.cpp.change import change, instead
from opgate.mutation.cpp.syntax import called, field, fields, text, within
from opgate.mutation.mutant import Mutant

if TYPE_CHECKING:
    from tree_sitter import Node

METHODS = tables.METHODS | {
    "sym_size": ("stride for size", "sym_stride"),
    "sym_stride": ("size for stride", "sym_size"),
    "sizes": ("stride for size", "strides"),
    "strides": ("size for stride", "sizes"),
    "sym_sizes": ("stride for size", "sym_strides"),
    "sum_to_size_symint": ("gradient", None),
}
FUNCTIONS = tables.FUNCTIONS | {
    "zeros_symint": ("unwritten memory", "empty_symint"),
    "new_zeros_symint": ("unwritten memory", "new_empty_symint"),
    "getCurrentCUDAStream": ("stream", "getDefaultCUDAStream"),
}
MAKERS = (*tables.MAKERS, "empty_symint", "new_empty_symint", "empty_like_symint")
GUARDS = ("CUDAGuard", "OptionalCUDAGuard", "DeviceGuard", "OptionalDeviceGuard", "CUDAStreamGuard")


def of_method(node: Node) -> Iterator[Mutant]:
    """x.size(i) as x.stride(i), x.contiguous() as x."""
    function, arguments = fields(node, "function", "arguments")
    receiver, name = text(field(function, "argument")), text(field(function, "field"))
    if function is None or function.type != "field_expression" or arguments is None or name not in METHODS:
        return
    kind, other = METHODS[name]
    if name in ("size", "stride") and not arguments.named_children:
        return  # a container's
    dot = text(field(function, "operator") or function.children[1])
    yield instead(node, kind, receiver if other is None else f"{receiver}{dot}{other}{text(arguments)}")


def of_function(node: Node) -> Iterator[Mutant]:
    """at::zeros(...) as at::empty(...), the current stream as the default stream."""
    name = called(node)
    if name is not None and text(name) in FUNCTIONS:
        kind, other = FUNCTIONS[text(name)]
        code = node.text or b""
        begin, end = name.start_byte - node.start_byte, name.end_byte - node.start_byte
        yield instead(node, kind, code[:begin].decode() + other + code[end:].decode())


def of_maker(node: Node) -> Iterator[Mutant]:
    """A new tensor with the strides of a transposed one."""
    arguments = field(node, "arguments")
    if text(called(node)) in MAKERS and arguments is not None and arguments.named_children:
        shown = f"{text(node)}, with the strides of a transposed tensor"
        yield change(node, "strides", "opgate_mutants::transposed(OPGATE_NUMBER, ", ")", shown)


def of_accumulator(node: Node) -> Iterator[Mutant]:
    """A sum that is rounded to a narrower type at each step."""
    left, operator = fields(node, "left", "operator")
    if left is not None and left.type == "identifier" and text(operator) == "+=":
        narrower = f"opgate_mutants::narrowed(OPGATE_NUMBER, {text(left)})"
        shown = f"{text(node)}, rounded to a narrower type"
        yield change(node, "accumulator", "(", f", {narrower})", shown)


def of_atomic(node: Node) -> Iterator[Mutant]:
    """atomicAdd(p, x) as *p += x."""
    for call in node.named_children[:1]:
        arguments = field(call, "arguments")
        if arguments is not None and text(called(call)) in ("atomicAdd", "gpuAtomicAdd"):
            place, value = (text(child) for child in arguments.named_children[:2])
            sum_up = f"*({place}) += {value}"
            yield change(node, "atomic", f"{{ if (OPGATE_CHOSEN) {sum_up}; else ", " }", sum_up)


def of_swapped_arguments(node: Node) -> Iterator[Mutant]:
    """f(a, b) as f(b, a), where both have the same type."""
    function, arguments = fields(node, "function", "arguments")
    if arguments is None or text(called(node)) in ("min", "max", "fma"):
        return  # where the order changes nothing
    given = arguments.named_children
    types = _declared_types(node)
    for index, (first, second) in enumerate(zip(given, given[1:], strict=False)):
        if text(first) != text(second) and first.type == second.type and _have_one_type(first, second, types):
            swapped = [text(argument) for argument in given]
            swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
            yield instead(node, "swapped arguments", f"{text(function)}({', '.join(swapped)})")
            return


def _have_one_type(first: Node, second: Node, types: dict[str, str]) -> bool:
    """Whether both are parameters of one type, or elements of one array."""
    if first.type == "identifier":
        return text(first) in types and types[text(first)] == types.get(text(second))
    arrays = [text(field(each, "argument")) for each in (first, second)]
    return first.type == "subscript_expression" and arrays[0] == arrays[1]


def of_guard(node: Node) -> Iterator[Mutant]:
    """A guard of the device or stream that is missing."""
    declarator = field(node, "declarator")
    arguments = field(declarator, "value") or field(declarator, "parameters")
    kind, name = text(field(node, "type")), text(field(declarator, "declarator"))
    if kind.endswith(GUARDS) and name and arguments is not None:
        given = text(arguments)[1:-1]
        maybe = f"std::optional<{kind}> {name}; if (!OPGATE_CHOSEN) {name}.emplace({given}); /*"
        yield change(node, "guard", maybe, "*/", "")


FOR_OPERATORS = {
    "call_expression": (of_method, of_function, of_maker, of_swapped_arguments),
    "assignment_expression": (of_accumulator,),
    "expression_statement": (of_atomic,),
    "declaration": (of_guard,),
}
"""By the type of the node that they change."""


def _declared_types(node: Node) -> dict[str, str]:
    """The types of the parameters of the functions around a node, by their names."""
    types = {}
    for outer in within(node):
        parameters = field(field(outer, "declarator"), "parameters")
        if outer.type != "function_definition" or parameters is None:
            continue
        for parameter in parameters.named_children:
            name = field(parameter, "declarator")
            while (inner := field(name, "declarator")) is not None or (
                name is not None and name.type == "reference_declarator" and name.named_children
            ):
                name = inner if inner is not None else name.named_children[0]
            if name is not None and field(parameter, "type") is not None:
                types[text(name)] = text(parameter).replace(text(name), "")
    return types
