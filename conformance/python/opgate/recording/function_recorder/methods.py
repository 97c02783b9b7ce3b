"""Methods of objects: a recorded call is that of an object that is made anew, with the same arguments.

A sample must hold all that a call needs. So the arguments with which the object was made are the first ones
of the call; their names begin with "self_". Calls of an object that has changed in the meantime are left out.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from .calls import Function
from .signature import OF_OBJECT, UNKNOWN, NotDescribed, Signature


@dataclass
class Made:
    """How an object was made, and what may have changed it since then."""

    keeps: weakref.ref[Any]  # by its end, the object's id is forgotten
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    called: set[str] = field(default_factory=set)


MADE: dict[int, Made] = {}  # by the id of the object
SET = "__setattr__"


class MethodSignature(Signature):
    """The parameters of the constructor, and those of the method."""

    def __init__(self, owner: type, method: Callable[..., Any], name: str) -> None:
        super().__init__(method, skipped=1)
        self.made_by = Signature(owner.__init__, skipped=1)
        self.name = name

    def given(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, tuple[Any, bool]]:
        """For a call whose first argument is the object."""
        made = MADE.get(id(arguments[0]))
        if made is None:
            raise NotDescribed("of an object that a constructor has not made")
        if others := sorted(made.called - {self.name}):
            raise NotDescribed(
                "of an object that has changed since it was made"
                if SET in others
                else f"of an object whose `{others[0]}` was called before"
            )
        constructed = self.made_by.given(made.arguments, made.keywords)
        return {OF_OBJECT + name: value for name, value in constructed.items()} | super().given(
            arguments[1:], keywords
        )

    def default(self, name: str) -> Any:
        """The default of a parameter of the method. Those of the constructor are always given."""
        return UNKNOWN if name.startswith(OF_OBJECT) else super().default(name)


def methods_of(owner: type) -> Iterable[tuple[str, Callable[..., Any]]]:
    """The methods that the class itself defines, in Python or by pybind11, without special ones."""
    for name, value in list(vars(owner).items()):
        is_method = isinstance(value, types.FunctionType) or type(value).__name__ == "instancemethod"
        if is_method and not name.startswith("__"):
            yield name, value


def can_be_watched(owner: type) -> bool:
    """Whether a constructor makes the objects: that of `object` takes no arguments, and `__new__` has others.

    A torch.nn.Module draws its parameters, so that one that is made anew is another one.
    """
    return owner.__init__ is not object.__init__ and not issubclass(owner, torch.nn.Module | BaseException)


def watch_objects(owner: type) -> None:
    """Remembers how each object of the class is made, and which of its methods are called."""
    construct = owner.__init__
    set_attribute = owner.__setattr__

    @functools.wraps(construct)
    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        construct(self, *arguments, **keywords)
        if type(self) is not owner:
            return
        at = id(self)
        # An object with slots alone has no weak references, so that its end would not be known.
        with contextlib.suppress(TypeError):
            MADE[at] = Made(weakref.ref(self, lambda _: MADE.pop(at, None)), arguments, keywords)

    @functools.wraps(set_attribute)
    def __setattr__(self: Any, name: str, value: Any) -> None:
        note_call(self, SET)
        set_attribute(self, name, value)

    owner.__init__ = __init__  # type: ignore[misc]
    owner.__setattr__ = __setattr__  # type: ignore[method-assign,assignment]
    for name, method in methods_of(owner):
        setattr(owner, name, noting(name, method))


def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, of which MADE holds that it was called."""
    original = method.__func__ if hasattr(method, "__func__") else method

    @functools.wraps(original)
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        note_call(self, name)
        return original(self, *arguments, **keywords)

    return call


def note_call(made: Any, name: str) -> None:
    """Notes a call that may change the object."""
    if (known := MADE.get(id(made))) is not None:
        known.called.add(name)


def recorded_method(known: Function, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, whose calls are recorded."""

    @functools.wraps(inspect.unwrap(method))
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return known((self, *arguments), keywords)

    return call
