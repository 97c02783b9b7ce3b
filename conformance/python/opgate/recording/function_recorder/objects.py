"""Objects that can be called, such as modules and partials: their calls are recorded, and they stay.

A function may be replaced by another one. An object may not: it has attributes, a class that is asked for,
and copies of its own. So the class of the object gets a `__call__` that knows the object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .calls import Function

# By id, with the object itself, so that no other one gets its id.
OBJECTS: dict[int, tuple[Any, Function]] = {}
# What each class whose objects are watched had as `__call__`, its own or that of a base.
WATCHED: dict[type, Callable[..., Any]] = {}
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class RecordedPartial(functools.partial):
    """A partial whose calls are recorded; the class of partials is in C++ and takes no other `__call__`."""

    known: Function

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Makes the call, and records what the caller gives, without what the partial has."""
        return self.known(arguments, keywords)


def recorded_partial(partial: functools.partial[Any], known: Function) -> RecordedPartial:
    """The same partial, with its function and its arguments."""
    made = RecordedPartial(partial.func, *partial.args, **partial.keywords)
    made.__dict__.update(partial.__dict__)
    made.known = known
    return made


def can_watch(value: Any) -> bool:
    """Whether the class of the object takes another `__call__`: it is in Python, and has one."""
    owner = type(value)
    return bool(owner.__flags__ & HEAP_TYPE) and any("__call__" in vars(base) for base in owner.__mro__)


def call_of(value: Any) -> Any:
    """What a call of the object does, past the recording."""
    return original_call(type(value)).__get__(value)


def original_call(owner: type) -> Callable[..., Any]:
    """The `__call__` of the class, as it was before it or a base was watched."""
    base = next(base for base in owner.__mro__ if "__call__" in vars(base))
    return WATCHED.get(base, vars(base)["__call__"])


def watch(value: Any, known: Function) -> None:
    """Records the calls of this object, and of no other one of its class."""
    OBJECTS[id(value)] = (value, known)
    owner = type(value)
    if owner in WATCHED:
        return
    WATCHED[owner] = original = original_call(owner)

    @functools.wraps(original)
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        found = OBJECTS.get(id(self))
        return original(self, *arguments, **keywords) if found is None else found[1](arguments, keywords)

    owner.__call__ = call
