"""Methods as functions, "mylib:Window().sums": each call makes an object, and calls its method."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from opgate.recording.function_recorder.signature import OF_OBJECT

WITHOUT_NAME = re.compile(r"arg\d+")  # as pybind11 names parameters that have none


class Method:
    """A method of objects that its calls make, with the arguments whose names begin with "self_"."""

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def with_parameters(self, names: Sequence[str]) -> Callable[..., Any]:
        """The function whose positional parameters have these names."""

        @functools.wraps(getattr(self.owner, self.name))
        def call(*arguments: Any, **keywords: Any) -> Any:
            named = dict(zip(names, arguments, strict=False))
            made_with = {
                name.removeprefix(OF_OBJECT): value
                for name, value in (named | keywords).items()
                if name.startswith(OF_OBJECT)
            }
            in_order = [value for name, value in made_with.items() if WITHOUT_NAME.fullmatch(name)]
            by_name = {name: value for name, value in made_with.items() if not WITHOUT_NAME.fullmatch(name)}
            method = getattr(self.owner(*in_order, **by_name), self.name)
            return method(
                *(value for name, value in named.items() if not name.startswith(OF_OBJECT)),
                **{name: value for name, value in keywords.items() if not name.startswith(OF_OBJECT)},
            )

        return call


def text_of_call(name: str, parameters: str, formals: Iterable[Any], word: Callable[[str], str] = str) -> str:
    """A lambda that calls the method `name`, "mylib.Window().sums", or, for a function, what is called.

    `formals` are the arguments of its schema, and `word` gives the name of each in `parameters`.
    """
    owner, is_method, called = name.rpartition("().")
    if not is_method:
        return f'getattr({called}, "apply", {called})'  # of a torch.autograd.Function, what applies it
    made_with, given = [], []
    for formal in formals:
        own, plain = word(formal.name), formal.name.removeprefix(OF_OBJECT)
        if plain == formal.name:
            given.append(f"{own}={own}" if formal.kwarg_only else own)
        else:
            made_with.append(own if WITHOUT_NAME.fullmatch(plain) else f"{plain}={own}")
    return f"lambda {parameters}: {owner}({', '.join(made_with)}).{called}({', '.join(given)})"
