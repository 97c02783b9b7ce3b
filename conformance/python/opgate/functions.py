"""Functions as subjects: what no dispatcher knows is registered as an operator, in OpGate's processes alone.

A function is named "module:qualname", as "mylib.ops:scaled_add". A recording of its calls holds its schema,
which a person may correct, and how arguments are passed. The operator is composed of whatever the function
calls, so that autograd sees through it.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

NAMESPACE = "opgate_functions"
"""That of spec/function_name.h."""

LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")


def is_function(subject: str) -> bool:
    """Whether this is the name of a function, and not of an operator or a model."""
    return ":" in subject and "::" not in subject


def operator_of(subject: str) -> str:
    """The name of the operator that stands for a function; other names are returned as they are."""
    return f"{NAMESPACE}::{re.sub('[^A-Za-z0-9]', '_', subject)}" if is_function(subject) else subject


def resolve(name: str) -> Callable[..., Any]:
    """The function "module:qualname"; of a torch.autograd.Function, its `apply`.

    Raises ImportError or AttributeError if there is none.
    """
    module, _, qualname = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    if isinstance(found, type) and issubclass(found, torch.autograd.Function):
        return found.apply
    return found


def register(name: str, schema: str, tuples: frozenset[str], function: Callable[..., Any]) -> None:
    """Registers the operator that stands for `function`. Arguments named in `tuples` are passed as tuples.

    Raises RuntimeError for a schema that torch does not accept.
    """
    operator = operator_of(name).partition("::")[2]
    LIBRARY.define(operator + schema[schema.index("(") :])
    overload = getattr(getattr(torch.ops, NAMESPACE), operator).default
    names = [argument.name for argument in overload._schema.arguments]
    positions = [i for i, argument in enumerate(names) if argument in tuples]

    def call(*arguments: Any, **keywords: Any) -> Any:
        given = list(arguments)
        for position in positions:
            if position < len(given) and isinstance(given[position], list):
                given[position] = tuple(given[position])
        keywords = {key: tuple(value) if key in tuples else value for key, value in keywords.items()}
        return function(*given, **keywords)

    LIBRARY.impl(operator, call, "CompositeImplicitAutograd")


def register_recorded(folder: str) -> None:
    """Registers all functions whose calls are recorded in this folder.

    Raises RuntimeError that names the function for one that cannot be imported, or whose schema is wrong.
    """
    for file in sorted(Path(folder).glob("*.json")) if folder else []:
        try:
            recorded = json.loads(file.read_text())
        except (OSError, json.JSONDecodeError):
            continue  # the engine reports it
        name = recorded.get("op", "") if isinstance(recorded, dict) else ""
        if not is_function(name):
            continue
        try:
            function = resolve(name)
        except (ImportError, AttributeError) as error:
            raise RuntimeError(f"{file}: the function {name} is not there: {error}") from error
        try:
            register(name, recorded["schema"], frozenset(recorded.get("tuples", ())), function)
        except RuntimeError as error:
            raise RuntimeError(f"{file}: the schema of {name} is not valid: {error}") from error
