"""What the parameters of a function are, and which arguments a call gives to them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

UNKNOWN = object()  # a default that is not known, or none


class NotDescribed(Exception):
    """A call that no sample can hold; the message says why."""


def parameters_in_doc(doc: str) -> list[tuple[str, Any]] | None:
    """The parameters and their defaults in the first line of a pybind11 function's docstring.

    "scaled_add(x: torch.Tensor, alpha: float = 1.0) -> torch.Tensor". None for overloaded functions.
    """
    found = re.match(r"\w+\((.*)\)(?: -> .*)?$", doc.partition("\n")[0])
    if found is None or "Overloaded function." in doc or "*args" in found[1]:
        return None
    parameters = []
    for text in split_at_commas(found[1]):
        if text in ("*", "/"):
            continue
        name, _, default = text.partition(" = ")
        try:
            value = ast.literal_eval(default) if default else UNKNOWN
        except (ValueError, SyntaxError):
            value = UNKNOWN
        parameters.append((name.partition(":")[0].strip(), value))
    return parameters


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

    def __init__(self, function: Callable[..., Any], skipped: int = 0) -> None:
        self.python: inspect.Signature | None = None
        self.documented: list[tuple[str, Any]] | None = None
        try:
            found = inspect.signature(function)
            self.python = found.replace(parameters=list(found.parameters.values())[skipped:])
        except (ValueError, TypeError):  # a function in C++
            self.documented = parameters_in_doc(function.__doc__ or "")

    def given(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, tuple[Any, bool]]:
        """What the call gives, by parameter, in order, and whether it can be given by keyword only.

        Raises NotDescribed, or TypeError for what the function does not take.
        """
        if self.python is not None:
            return self._bound(arguments, keywords)
        names = [name for name, _ in self.documented or []]
        if keywords and self.documented is None:
            raise NotDescribed("keywords of an overloaded function")
        names += [f"arg{number}" for number in range(len(names), len(arguments))]
        given = {name: (value, False) for name, value in zip(names, arguments, strict=False)}
        in_order = [name for name in names[len(arguments) :] if name in keywords]
        without_gap = names[len(arguments) : len(arguments) + len(in_order)] == in_order
        return given | {name: (keywords[name], not without_gap) for name in in_order}

    def _bound(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, tuple[Any, bool]]:
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
            return dict(self.documented or []).get(name, UNKNOWN)
        parameter = self.python.parameters.get(name)
        return UNKNOWN if parameter is None or parameter.default is parameter.empty else parameter.default
