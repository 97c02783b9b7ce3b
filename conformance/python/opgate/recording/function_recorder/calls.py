"""Calls of functions that no dispatcher knows, for `opgate record`.

Each call passes through an operator that is made for it, so that libopgate_record.so describes the arguments
as those of any other operator. There is one operator for each combination of names and types of arguments.
The operator's kernel makes the call, with the arguments that the program gave. What a schema of the function
must say is seen; record/log.h describes the lines that are written for that.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from .facts import PLAIN, Facts, Given, contents, has_tensor, type_of
from .signature import NotDescribed, Signature

NAMESPACE = "opgate_functions"  # that of spec/schema/function_name.h
LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
CALLS_WATCHED = 16  # calls of a function whose tensors are compared with what they were before
SHOW_THEIR_TYPE = frozenset(
    (torch.Tensor, torch.nn.Parameter, *PLAIN)
)  # classes; lists show it by their elements
STANDS_FOR = {"None": "Tensor?", "[]": "int[]"}  # of which a call shows no type


class Thread(threading.local):
    """What a thread is doing: the innermost call that its operator has not begun yet."""

    inside = False
    waiting: Call | None = None


THREAD = Thread()


class Call:
    """One call of a function: what the program gave, and what it returned."""

    def __init__(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.arguments, self.keywords = arguments, keywords
        self.has_begun = False
        self.result: Any = None


class Function:
    """A function whose calls are recorded."""

    def __init__(self, name: str, function: Callable[..., Any], signature: Signature) -> None:
        self.function, self.signature = function, signature
        self.facts = Facts(name, signature)
        self.left_out: dict[str, int] = {}
        self.watched = 0
        self.overloads: dict[tuple[tuple[str, str], ...], torch._ops.OpOverload] = {}
        self.by_classes: dict[tuple[type, ...], torch._ops.OpOverload] = {}
        """The same for calls without keywords, by the classes of their arguments."""
        self.lock = threading.Lock()

    def __call__(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Makes the call, and records it if no other recorded call is going on in this thread."""
        if THREAD.inside or torch.compiler.is_compiling() or torch._C._functorch.peek_interpreter_stack():
            return self.function(*arguments, **keywords)
        THREAD.inside = True
        try:
            return self._recorded(arguments, keywords)
        finally:
            THREAD.inside = False

    def _recorded(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        call = Call(arguments, keywords)
        watch = self.watched < CALLS_WATCHED
        classes = tuple(map(type, arguments))
        if not watch and not keywords and (operator := self.by_classes.get(classes)) is not None:
            return self._through(operator, arguments, {}, call)
        try:
            given = self.signature.given(arguments, keywords)
            if not any(has_tensor(value) for value, _ in given.values()):
                return self._unrecorded(arguments, keywords)
            types = tuple([(name, type_of(value)) for name, (value, _) in given.items()])
        except (NotDescribed, TypeError) as error:  # the function itself raises the TypeError, too
            self._leave_out(str(error) if isinstance(error, NotDescribed) else "with other parameters")
            return self._unrecorded(arguments, keywords)
        operator = self.overloads.get(types) or self._operator(types, given)
        named = {name: value for name, (value, by_keyword) in given.items() if by_keyword}
        if not keywords and SHOW_THEIR_TYPE.issuperset(classes):
            self.by_classes[classes] = operator
        before = contents(given) if watch else {}
        self._through(
            operator, [value for name, (value, _) in given.items() if name not in named], named, call
        )
        if watch:
            self.watched += 1
            self._look(given, before, call.result)
        return call.result

    def _unrecorded(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Makes a call that no sample can hold. Those inside of it are recorded instead."""
        THREAD.inside = False
        return self.function(*arguments, **keywords)

    def _through(self, operator: Any, plain: Sequence[Any], named: dict[str, Any], call: Call) -> Any:
        THREAD.waiting = call
        try:
            operator(*plain, **named)
        except Exception:
            if call.has_begun:
                raise
            # torch did not convert an argument, and the function may.
            self._leave_out("with arguments that torch does not convert")
            call.result = self.function(*call.arguments, **call.keywords)
        return call.result

    def _operator(self, types: tuple[tuple[str, str], ...], given: Given) -> torch._ops.OpOverload:
        """Makes the operator for calls with arguments of these types."""
        with self.lock:
            if types in self.overloads:
                return self.overloads[types]
            parts = [[], []]  # positional parameters, and those that are given by keyword only
            for name, type_name in types:
                parts[given[name][1]].append(f"{STANDS_FOR.get(type_name, type_name)} {name}")
            text = ", ".join(parts[0] + (["*", *parts[1]] if parts[1] else []))
            version = f"_{len(self.overloads)}" if self.overloads else ""
            operator = re.sub("[^A-Za-z0-9]", "_", self.facts.name) + version
            LIBRARY.define(f"{operator}({text}) -> ()")
            LIBRARY.impl(operator, self._kernel, "CompositeImplicitAutograd")
            self.facts.add_version(types, given, f"{NAMESPACE}::{operator}")
            write_line(self.facts.line())
            self.overloads[types] = getattr(getattr(torch.ops, NAMESPACE), operator).default
            return self.overloads[types]

    def _kernel(self, *_: Any, **__: Any) -> None:
        call = THREAD.waiting
        THREAD.waiting = None
        assert call is not None
        call.has_begun = True
        call.result = self.function(*call.arguments, **call.keywords)

    def _look(self, given: Given, before: dict[str, Any], result: Any) -> None:
        """Sees what the call has shown."""
        try:
            if self.facts.look(given, before, result):
                write_line(self.facts.line())
        except NotDescribed as error:
            self._leave_out(str(error))

    def _leave_out(self, why: str) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def finish(self) -> None:
        """Writes how many calls were left out."""
        for why, count in self.left_out.items():
            write_line({"left_out": self.facts.name, "because": why, "count": count})


def write_line(line: dict[str, Any]) -> None:
    """Adds one line to the log of this process. A log that is not there any more takes none."""
    folder = Path(os.environ["OPGATE_RECORD"])
    if folder.is_dir():
        with (folder / f"{os.getpid()}-functions.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")
