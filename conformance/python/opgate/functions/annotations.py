"""The schema of a function from its annotations, or from the docstring that pybind11 has written."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable
from typing import Any

from opgate import _engine
from opgate.recording.function_recorder.facts import Facts
from opgate.recording.function_recorder.signature import Signature

PLAIN = {"Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str"}
PLAIN |= {"dtype": "ScalarType", "SupportsInt": "int", "SupportsIndex": "int", "SupportsFloat": "float"}
LISTS = ("list", "List", "Sequence", "Iterable", "tuple", "Tuple")
ADVICE = 'write spec.schema("(Tensor x, Tensor(a!) out, *, float eps=1e-06) -> ()"), or record its calls'


def annotated_schema(name: str, function: Callable[..., Any]) -> str:
    """The schema that the annotations describe; no argument is written.

    Raises ValueError that says what is missing, and how to give the schema.
    """
    signature = Signature.of(function)
    facts = Facts(name, signature)
    types: list[tuple[str, str]] = []
    given = {}
    for parameter, annotation in signature.annotations().items():
        if (kind := type_of_annotation(annotation)) is None:
            raise ValueError(f"no annotation gives the type of `{parameter}`; {ADVICE}")
        types.append((parameter, kind))
        given[parameter] = (None, signature.is_by_keyword(parameter))
    facts.add_version(tuple(types), given, "annotations")
    facts.returns = returns_of(signature.returned)
    schema, _ = _engine.function_schema(json.dumps(facts.line()))
    return schema


def returns_of(annotation: Any) -> list[dict[str, Any]]:
    """The results as record/log.h describes them. Raises ValueError."""
    tree = expression(annotation)
    is_tuple = isinstance(tree, ast.Subscript) and last_name(tree.value) in ("tuple", "Tuple")
    parts = elements(tree) if is_tuple else [tree]
    types = [of_expression(part) for part in parts]
    if None in types or types == ["None"]:
        raise ValueError(f"no annotation gives the type of what it returns; {ADVICE}")
    return [{"type": each, "argument": None} for each in types]


def type_of_annotation(annotation: Any) -> str | None:
    """The type in a schema, "None" for None; None if there is none."""
    return of_expression(expression(annotation))


def expression(annotation: Any) -> ast.expr | None:
    """The annotation as an expression of Python."""
    if annotation in (None, inspect.Parameter.empty):
        return None
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None


def of_expression(tree: ast.expr | None) -> str | None:
    """The type in a schema that an expression names; None if there is none."""
    if isinstance(tree, ast.Constant):
        if isinstance(tree.value, str):  # an annotation within an annotation
            return type_of_annotation(tree.value)
        return "None" if tree.value is None else None
    if isinstance(tree, ast.Name | ast.Attribute):
        return PLAIN.get(last_name(tree))
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return optional(of_expression(tree.left), of_expression(tree.right))
    if isinstance(tree, ast.Subscript):
        inner = [of_expression(part) for part in elements(tree)]
        if last_name(tree.value) == "Optional" and len(inner) == 1:
            return optional(inner[0], "None")
        if last_name(tree.value) == "Union" and len(inner) == 2:
            return optional(*inner)
        if last_name(tree.value) in LISTS and inner and inner[0] in ("Tensor", "int", "float", "bool"):
            return f"{inner[0]}[]" if set(inner) <= {inner[0], None} else None
    return None


def optional(one: str | None, other: str | None) -> str | None:
    """The type of values that are of one type or None, or an integer or a floating-point number."""
    if {one, other} == {"int", "float"}:
        return "float"
    if "None" not in (one, other) or None in (one, other):
        return None
    return f"{other if one == 'None' else one}?"


def elements(tree: ast.Subscript) -> list[ast.expr]:
    """What stands in the brackets."""
    return tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]


def last_name(tree: ast.expr) -> str:
    """`Tensor` of `torch.Tensor`."""
    return tree.attr if isinstance(tree, ast.Attribute) else tree.id if isinstance(tree, ast.Name) else ""
