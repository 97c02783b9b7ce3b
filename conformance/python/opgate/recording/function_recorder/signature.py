"""What the parameters of a function are, and which arguments a call gives to them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

import torch

SEPARATE_CONTEXT = torch.autograd.function._SingleLevelFunction.setup_context  # type: ignore[attr-defined]
UNKNOWN = object()  # a default that is not known, or none
OF_OBJECT = "self_"
"""The names of what an object is made with begin so, where they stand before the arguments of its method."""


class NotDescribed(Exception):
    """A call that no sample can hold; the message says why."""


def parameters_in_doc(doc: str) -> tuple[dict[str, tuple[Any, str]], str] | None:
    """What the first line of a pybind11 function's docstring says.

    "scaled_add(x: torch.Tensor, alpha: float = 1.0) -> torch.Tensor": the default and the type of each
    parameter, and the type of what is returned. None for overloaded functions.
    """
    found = re.match(r"\w+\((.*)\)(?: -> (.*))?$", doc.partition("\n")[0])
    if found is None or "Overloaded function." in doc or "*args" in found[1]:
        return None
    parameters = {}
    for text in split_at_commas(found[1]):
        if text in ("*", "/"):
            continue
        name, _, default = text.partition(" = ")
        try:
            value = ast.literal_eval(default) if default else UNKNOWN
        except (ValueError, SyntaxError):
            value = UNKNOWN
        name, _, type_name = name.partition(":")
        parameters[name.strip()] = (value, type_name.strip())
    return parameters, found[2] or ""


def split_at_commas(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() else parts


class Signature:
    """The parameters of `function`, of which the first `skipped` are not given by the caller."""

    @classmethod
    def of(cls, value: Any) -> Signature:
        """For a function, the `apply` of a torch.autograd.Function, or the call of a torch.nn.Module."""
        owner = getattr(value, "__self__", value)  # of a bound method, such as `apply`
        if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
            takes_context = owner.setup_context is SEPARATE_CONTEXT
            return cls(owner.forward, skipped=1 if takes_context else 0)
        return cls(value.forward if isinstance(value, torch.nn.Module) else value)

    def __init__(self, function: Callable[..., Any], skipped: int = 0) -> None:
        self.python: inspect.Signature | None = None
        self.documented: dict[str, tuple[Any, str]] | None = None
        self.returned: Any = None
        """The annotation of what is returned; None or "" if there is none."""
        self.names: list[str] = []
        self.positional = -1  # how many can be given without their names; -1 if any number
        self.needed: set[str] = set()
        try:
            found = inspect.signature(function)
            self._read(found.replace(parameters=list(found.parameters.values())[skipped:]))
        except (ValueError, TypeError):  # a function in C++
            if found_in_doc := parameters_in_doc(function.__doc__ or ""):
                documented, self.returned = found_in_doc
                self.documented = dict(list(documented.items())[skipped:])

    def _read(self, found: inspect.Signature) -> None:
        self.python, self.returned = found, found.return_annotation
        parameters = found.parameters.values()
        kinds = [parameter.kind for parameter in parameters]
        if not {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} & set(kinds):
            self.names = list(found.parameters)
            self.positional = len(kinds) - kinds.count(inspect.Parameter.KEYWORD_ONLY)
            self.needed = {each.name for each in parameters if each.default is each.empty}

    def given(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, tuple[Any, bool]]:
        """What the call gives, by parameter, in order, and whether it can be given by keyword only.

        Raises NotDescribed, or TypeError for what the function does not take.
        """
        if self.python is not None:
            return self._bound(arguments, keywords)
        names = list(self.documented or ())
        if keywords and self.documented is None:
            raise NotDescribed("keywords of an overloaded function")
        names += [f"arg{number}" for number in range(len(names), len(arguments))]
        given = {name: (value, False) for name, value in zip(names, arguments, strict=False)}
        in_order = [name for name in names[len(arguments) :] if name in keywords]
        without_gap = names[len(arguments) : len(arguments) + len(in_order)] == in_order
        return given | {name: (keywords[name], not without_gap) for name in in_order}

    def _bound(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, tuple[Any, bool]]:
        if len(arguments) > self.positional:
            return self._bound_by_python(arguments, keywords)
        # For a function without `*args` and `**kwargs`, the same as Python does, in a fraction of its time.
        given = {name: (value, False) for name, value in zip(self.names, arguments, strict=False)}
        gap = False
        for position in range(len(arguments), len(self.names)):
            name = self.names[position]
            if name in keywords:
                given[name] = (keywords[name], gap or position >= self.positional)
            else:
                gap = True
        if len(given) < len(arguments) + len(keywords) or not self.needed <= given.keys():
            return self._bound_by_python(arguments, keywords)  # which raises the TypeError
        return given

    def _bound_by_python(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> dict[str, tuple[Any, bool]]:
        assert self.python is not None
        bound = self.python.bind(*arguments, **keywords).arguments
        given: dict[str, tuple[Any, bool]] = {}
        gap = False
        for name, parameter in self.python.parameters.items():
            if name not in bound:
                gap = True
            elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                given |= {f"{name}{number}": (value, False) for number, value in enumerate(bound[name])}
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                given |= {key: (value, True) for key, value in bound[name].items()}
            else:
                given[name] = (bound[name], gap or parameter.kind is inspect.Parameter.KEYWORD_ONLY)
        return given

    def default(self, name: str) -> Any:
        """The default of a parameter; UNKNOWN if it has none, or one that is not known."""
        if self.python is None:
            return (self.documented or {}).get(name, (UNKNOWN, ""))[0]
        parameter = self.python.parameters.get(name)
        return UNKNOWN if parameter is None or parameter.default is parameter.empty else parameter.default

    def annotations(self) -> dict[str, Any]:
        """The annotation of each parameter, as an object or a text; none for `*args` and `**kwargs`."""
        if self.python is None:
            return {name: type_name for name, (_, type_name) in (self.documented or {}).items()}
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return {
            name: parameter.annotation
            for name, parameter in self.python.parameters.items()
            if parameter.kind not in variadic
        }

    def is_by_keyword(self, name: str) -> bool:
        """Whether the parameter can be given by keyword only."""
        return self.python is not None and self.python.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
