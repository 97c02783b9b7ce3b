"""Functions as subjects: what no dispatcher knows is registered as an operator, in OpGate's processes alone.

A function is named "module:qualname", as "mylib.ops:scaled_add". A recording of its calls holds its schema,
which a person may correct, and how arguments are passed. The operator is composed of whatever the function
calls, so that autograd sees through it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from opgate.functions.annotations import annotated_schema
from opgate.functions.methods import Method
from opgate.modules.kernel_folders import registered_name
from opgate.recording.function_recorder.signature import OF_OBJECT
from opgate.request import UserError

if TYPE_CHECKING:
    from opgate.specs.spec import OpSpec

NAMESPACE = "opgate_functions"
"""That of spec/schema/function_name.h."""

LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")


FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""By name: what makes the calls of each function that this process has registered."""


def is_function(subject: str) -> bool:
    """Whether this is the name of a function, and not of an operator or a model."""
    return ":" in subject and "::" not in subject


def operator_of(subject: str) -> str:
    """The dispatcher's name for a subject, as spec/schema/function_name.h has it."""
    if is_function(subject):
        return f"{NAMESPACE}::{re.sub('[^A-Za-z0-9]', '_', subject)}"
    return registered_name(subject)


def resolve(name: str) -> Callable[..., Any] | Method:
    """The function "module:qualname"; of a torch.autograd.Function, its `apply`.

    A method of an object that each call makes is named "module:Type().method". Raises ImportError or
    AttributeError if there is none.
    """
    module, _, qualname = name.partition(":")
    of_type, _, method = qualname.rpartition("().")
    found: Any = importlib.import_module(module)
    for part in (of_type or qualname).split("."):
        found = getattr(found, part)
    if not of_type:
        return callable_of(found)
    getattr(found, method)
    return Method(found, method)


def in_python(function: Callable[..., Any]) -> bool:
    """Whether it has code in Python: a function or a method, an `apply`, or an object such as a module."""
    made = inspect.unwrap(function)
    while isinstance(made, functools.partial):
        made = inspect.unwrap(made.func)
    owner = getattr(made, "__self__", None)  # torch makes the `apply` of an autograd Function in C++
    applies = isinstance(owner, type) and issubclass(owner, torch.autograd.Function)
    calls = [vars(base)["__call__"] for base in type(made).__mro__ if "__call__" in vars(base)]
    return applies or isinstance(made, types.FunctionType | types.MethodType) or hasattr(calls[0], "__code__")


def callable_of(found: Any) -> Callable[..., Any]:
    """The object itself; of a torch.autograd.Function, its `apply`."""
    if isinstance(found, type) and issubclass(found, torch.autograd.Function):
        return found.apply
    return found


@contextmanager
def registered(
    name: str, schema: str, tuples: frozenset[str], function: Callable[..., Any]
) -> Iterator[None]:
    """Registers the function as `register` does, until the end of the block."""
    with torch.library._scoped_library(NAMESPACE, "FRAGMENT") as library:
        register(name, schema, tuples, function, library)
        yield


def register(
    name: str,
    schema: str,
    tuples: frozenset[str],
    function: Callable[..., Any] | Method,
    library: torch.library.Library = LIBRARY,
) -> None:
    """Registers the operator that stands for `function`. Arguments named in `tuples` are passed as tuples.

    Raises RuntimeError for a schema that torch does not accept.
    """
    operator = operator_of(name).partition("::")[2]
    parameters = schema.removeprefix(name)
    library.define(operator + parameters[parameters.index("(") :])
    overload = getattr(getattr(torch.ops, NAMESPACE), operator).default
    described = overload._schema.arguments
    formals = [argument for argument in described if not argument.kwarg_only]
    defaults = {
        argument.name: argument.default_value
        for argument in described
        if argument.kwarg_only and argument.has_default_value()
    }
    if isinstance(function, Method):
        function = function.with_parameters([argument.name for argument in formals])
    positions = [i for i, argument in enumerate(formals) if argument.name in tuples]

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        # torch leaves out what equals the schema's default, which the function itself need not have.
        given = [*arguments, *(argument.default_value for argument in formals[len(arguments) :])]
        for position in positions:
            if position < len(given) and isinstance(given[position], list):
                given[position] = tuple(given[position])
        keywords = defaults | keywords
        keywords = {key: tuple(value) if key in tuples else value for key, value in keywords.items()}
        return function(*given, **keywords)

    library.impl(operator, call, "CompositeImplicitAutograd")
    FUNCTIONS[name] = call


def register_functions(folder: str, specs: Mapping[str, OpSpec]) -> None:
    """Registers all functions that have a spec, or whose calls are recorded in this folder.

    The schema is that of the spec, of the recording, or of the annotations. Raises UserError that names
    the function for one that cannot be imported, or that has no valid schema.
    """
    recorded = recorded_functions(folder)
    for name in dict.fromkeys([*filter(is_function, specs), *recorded]):
        spec = specs.get(name)
        file, facts = recorded.get(name, (None, {}))
        where = spec.where if spec else str(file)
        try:
            function = callable_of(spec.function) if spec and spec.function else resolve(name)
        except (ImportError, AttributeError) as error:
            raise UserError(f"{where}: the function {name} is not there: {error}") from error
        try:
            schema = (spec and spec.written_schema) or facts.get("schema")
            if schema is None and isinstance(function, Method):
                raise ValueError(
                    f"write it into the spec: the parameters of {function.owner.__name__} begin with "
                    f'"{OF_OBJECT}", as in spec.schema("(int {OF_OBJECT}width, Tensor x) -> Tensor")'
                )
            schema = schema or annotated_schema(name, function)
            register(name, schema, frozenset(facts.get("tuples", ())), function)
        except (RuntimeError, ValueError) as error:
            raise UserError(f"{where}: the schema of {name} is not valid: {error}") from error


def recorded_functions(folder: str) -> dict[str, tuple[Path, dict[str, Any]]]:
    """The recordings of functions in the folder: the file of each and what it holds."""
    found = {}
    for file in sorted(Path(folder).glob("*.json")) if folder else []:
        try:
            recorded = json.loads(file.read_text())
        except (OSError, json.JSONDecodeError):
            continue  # the engine reports it
        name = recorded.get("op", "") if isinstance(recorded, dict) else ""
        if is_function(name):
            found[name] = (file, recorded)
    return found
