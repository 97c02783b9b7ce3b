"""The kinds of mutants of operators: layouts, memory, devices, accumulators and derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opgate.mutation import tables
from opgate.mutation.cpp.change import change, instead
from opgate.mutation.cpp.syntax import called, field, text, within
from opgate.mutation.mutant import Change

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


def of_method(node: Node) -> Iterator[Change]:
    """x.size(i) as x.stride(i), x.contiguous() as x."""
    function = field(node, "function") if node.type == "call_expression" else None
    if function is None or function.type != "field_expression":
        return
    arguments, receiver, name = (
        field(node, "arguments"),
        field(function, "argument"),
        field(function, "field"),
    )
    if arguments is None or receiver is None or name is None or text(name) not in METHODS:
        return
    kind, other = METHODS[text(name)]
    if text(name) in ("size", "stride") and not arguments.named_children:
        return  # a container's
    dot = text(field(function, "operator") or function.children[1])
    yield instead(
        node, kind, text(receiver) if other is None else f"{text(receiver)}{dot}{other}{text(arguments)}"
    )


def of_function(node: Node) -> Iterator[Change]:
    """at::zeros(...) as at::empty(...), the current stream as the default stream."""
    name = called(node)
    if name is None or text(name) not in FUNCTIONS:
        return
    kind, other = FUNCTIONS[text(name)]
    begin = name.start_byte - node.start_byte
    rest = (node.text or b"")[begin + len(name.text or b"") :].decode()
    yield instead(node, kind, (node.text or b"")[:begin].decode() + other + rest)


def of_maker(node: Node) -> Iterator[Change]:
    """A new tensor with the strides of a transposed one."""
    name = called(node)
    arguments = field(node, "arguments")
    if name is not None and text(name) in MAKERS and arguments is not None and arguments.named_children:
        yield change(
            node,
            "strides",
            "opgate_mutants::transposed(OPGATE_NUMBER, ",
            ")",
            f"{text(node)}, with the strides of a transposed tensor",
        )


def of_accumulator(node: Node) -> Iterator[Change]:
    """A sum that is rounded to a narrower type at each step."""
    if node.type != "assignment_expression":
        return
    left, operator = field(node, "left"), field(node, "operator")
    if left is None or left.type != "identifier" or operator is None or text(operator) != "+=":
        return
    narrower = f"opgate_mutants::narrowed(OPGATE_NUMBER, {text(left)})"
    yield change(node, "accumulator", "(", f", {narrower})", f"{text(node)}, rounded to a narrower type")


def of_atomic(node: Node) -> Iterator[Change]:
    """atomicAdd(p, x) as *p += x."""
    if node.type != "expression_statement" or not node.named_children:
        return
    call = node.named_children[0]
    name, arguments = called(call), field(call, "arguments")
    if name is None or arguments is None or text(name) not in ("atomicAdd", "gpuAtomicAdd"):
        return
    place, value = (text(child) for child in arguments.named_children[:2])
    yield change(
        node, "atomic", f"{{ if (OPGATE_CHOSEN) *({place}) += {value}; else ", " }", f"*({place}) += {value}"
    )


def of_swapped_arguments(node: Node) -> Iterator[Change]:
    """f(a, b) as f(b, a), where both have the same type."""
    arguments = field(node, "arguments") if node.type == "call_expression" else None
    function = field(node, "function") if node.type == "call_expression" else None
    if arguments is None or function is None:
        return
    given = arguments.named_children
    if called(node) is not None and text(called(node) or node) in ("min", "max", "fma"):
        return  # where the order changes nothing
    types = _declared_types(node)
    for index, (first, second) in enumerate(zip(given, given[1:], strict=False)):
        if text(first) == text(second):
            continue
        if first.type != second.type or first.type not in ("identifier", "subscript_expression"):
            continue
        if first.type == "identifier" and (
            text(first) not in types or types[text(first)] != types.get(text(second))
        ):
            continue
        if first.type == "subscript_expression" and field(first, "argument") != field(second, "argument"):
            one, other = field(first, "argument"), field(second, "argument")
            if one is None or other is None or text(one) != text(other):
                continue
        swapped = [text(argument) for argument in given]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        yield instead(node, "swapped arguments", f"{text(function)}({', '.join(swapped)})")
        return


def of_guard(node: Node) -> Iterator[Change]:
    """A guard of the device or stream that is missing."""
    if node.type != "declaration":
        return
    kind, declarator = field(node, "type"), field(node, "declarator")
    if kind is None or declarator is None or not text(kind).endswith(GUARDS):
        return
    name = field(declarator, "declarator")
    arguments = field(declarator, "value") or field(declarator, "parameters")
    if name is None or arguments is None:
        return
    given = text(arguments)[1:-1]
    maybe = f"std::optional<{text(kind)}> {text(name)}; if (!OPGATE_CHOSEN) {text(name)}.emplace({given}); /*"
    yield change(node, "guard", maybe, "*/", "")


FOR_OPERATORS = (
    of_method,
    of_function,
    of_maker,
    of_accumulator,
    of_atomic,
    of_swapped_arguments,
    of_guard,
)


def _declared_types(node: Node) -> dict[str, str]:
    """The types of the parameters of the functions around a node, by their names."""
    types = {}
    for outer in within(node):
        declarator = field(outer, "declarator") if outer.type == "function_definition" else None
        if declarator is None:
            continue
        parameters = field(declarator, "parameters")
        for parameter in parameters.named_children if parameters is not None else []:
            kind, declared = field(parameter, "type"), field(parameter, "declarator")
            if kind is None or declared is None:
                continue
            name = declared
            while (inner := field(name, "declarator")) is not None or (
                name.type == "reference_declarator" and name.named_children
            ):
                name = inner if inner is not None else name.named_children[0]
            types[text(name)] = text(parameter).replace(text(name), "")
    return types
