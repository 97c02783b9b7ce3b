"""Calls of functions that no dispatcher knows, for `opgate record`.

Each call passes through an operator that is made for it, so that libopgate_record.so describes the arguments
as those of any other operator. The operator's kernel makes the call, with the arguments that the program
gave. What a schema of the function must say is seen: which arguments are tensors, which are written, what is
returned. record/log.h describes the lines that are written for that.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from function_signature import NotDescribed, Signature

NAMESPACE = "opgate_functions"  # that of spec/function_name.h
LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
CALLS_WATCHED = 16  # calls of a function whose tensors are compared with what they were before
BYTES_WATCHED = 1 << 22  # tensors with more bytes are not copied for that
STANDS_FOR = {"None": "Tensor?", "[]": "int[]"}  # of which no call has shown a type
PLAIN = ((bool, "bool"), (int, "int"), (float, "float"), (str, "str"), (torch.dtype, "ScalarType"))


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


def type_of(value: Any) -> str:
    """The type of an argument in a schema; "None" for None. Raises NotDescribed."""
    if isinstance(value, torch.Tensor):
        return "Tensor"
    if value is None:
        return "None"
    for kind, name in PLAIN:
        if isinstance(value, kind):
            return name
    if isinstance(value, list | tuple):
        types = {type_of(part) for part in value}
        if not types:
            return "[]"
        if types == {"int", "float"}:
            types = {"float"}
        if len(types) == 1 and (only := types.pop()) in ("Tensor", "bool", "int", "float"):
            return f"{only}[]"
    raise NotDescribed(f"a {type(value).__name__} as an argument")


def wider(known: str, seen: str) -> str:
    """A type for the arguments of both. Raises NotDescribed if there is none."""
    if known == seen or seen == "None" and known.endswith("?"):
        return known
    if "None" in (known, seen):
        return (seen if known == "None" else known) + "?"
    plain, end = known.rstrip("?"), "?" if known.endswith("?") else ""
    if plain == seen or seen == "[]" and plain.endswith("[]"):
        return known
    if plain == "[]" and seen.endswith("[]"):
        return seen + end
    for narrow, wide in (("int", "float"), ("int[]", "float[]")):
        if {plain, seen} == {narrow, wide}:
            return wide + end
    raise NotDescribed(f"a {seen} as an argument, where another call has a {plain}")


class Parameter:
    """What was seen of one parameter."""

    def __init__(self, type: str = "") -> None:  # noqa: A002 - the word of schemas
        self.type = type
        self.by_keyword = self.is_written = self.is_tuple = False

    def take(self, value: Any, by_keyword: bool) -> None:
        """Widens the type so that it is that of this argument, too. Raises NotDescribed."""
        seen = type_of(value)
        self.type = wider(self.type, seen) if self.type else seen
        self.by_keyword = self.by_keyword or by_keyword
        self.is_tuple = self.is_tuple or isinstance(value, tuple)

    def facts(self, default: Any) -> dict[str, Any]:
        """The parameter as record/log.h describes it."""
        facts = {"type": self.type, "written": self.is_written, "tuple": self.is_tuple}
        facts["keyword"] = self.by_keyword
        if default is None or isinstance(default, bool | int | float | str):
            facts["default"] = default
        return facts


class Function:
    """A function whose calls are recorded."""

    def __init__(self, name: str, function: Callable[..., Any], signature: Signature) -> None:
        self.name, self.function, self.signature = name, function, signature
        self.parameters: dict[str, Parameter] = {}
        self.returns: list[dict[str, Any]] | None = None
        self.left_out: dict[str, int] = {}
        self.watched = 0
        self.versions: dict[str, tuple[Any, str]] = {}  # operators, by their schemas
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
        try:
            given = self.signature.given(arguments, keywords)
            if not any(has_tensor(value) for value, _ in given.values()):
                return self.function(*arguments, **keywords)
            with self.lock:
                operator = self._operator(given)
        except (NotDescribed, TypeError) as error:  # the function itself raises the TypeError, too
            self._leave_out(str(error) if isinstance(error, NotDescribed) else "with other parameters")
            return self.function(*arguments, **keywords)
        watch = self.watched < CALLS_WATCHED
        before = contents(given) if watch else {}
        call = self._through(operator, given, Call(arguments, keywords))
        if watch:
            self.watched += 1
            self._look(given, before, call.result)
        return call.result

    def _through(self, operator: Any, given: dict[str, tuple[Any, bool]], call: Call) -> Call:
        THREAD.waiting = call
        try:
            plain = [value for name, (value, _) in given.items() if not self.parameters[name].by_keyword]
            named = {name: value for name, (value, _) in given.items() if self.parameters[name].by_keyword}
            operator(*plain, **named)
        except Exception:
            if call.has_begun:
                raise
            # torch did not convert an argument, and the function may.
            self._leave_out("with arguments that torch does not convert")
            call.result = self.function(*call.arguments, **call.keywords)
        return call

    def _operator(self, given: dict[str, tuple[Any, bool]]) -> Any:
        """The operator for calls with these arguments; made anew if types or parameters are new."""
        for name, (value, by_keyword) in given.items():
            if name not in self.parameters and self.versions and self.signature.default(name) is None:
                self.parameters[name] = Parameter("None")  # earlier calls had that default
            self.parameters.setdefault(name, Parameter()).take(value, by_keyword)
        for name, parameter in self.parameters.items():
            if name not in given and self.signature.default(name) is None:
                parameter.type = wider(parameter.type, "None")
        known = [(name, each) for name, each in self.parameters.items() if name in given]
        known.sort(key=lambda one: one[1].by_keyword)
        text = ""
        for position, (name, each) in enumerate(known):
            separator = ", " if position else ""
            if each.by_keyword and (position == 0 or not known[position - 1][1].by_keyword):
                separator += "*, "
            text += f"{separator}{STANDS_FOR.get(each.type, each.type)} {name}"
        if text not in self.versions:
            version = f"_{len(self.versions)}" if self.versions else ""
            operator = re.sub("[^A-Za-z0-9]", "_", self.name) + version
            LIBRARY.define(f"{operator}({text}) -> ()")
            LIBRARY.impl(operator, self._kernel, "CompositeImplicitAutograd")
            made = getattr(getattr(torch.ops, NAMESPACE), operator).default
            self.versions[text] = (made, f"{NAMESPACE}::{operator}")
            self._write()
        return self.versions[text][0]

    def _kernel(self, *_: Any, **__: Any) -> None:
        call = THREAD.waiting
        THREAD.waiting = None
        assert call is not None
        call.has_begun = True
        call.result = self.function(*call.arguments, **call.keywords)

    def _look(self, given: dict[str, tuple[Any, bool]], before: dict[str, Any], result: Any) -> None:
        """Sees which arguments were written, and what was returned."""
        written = [name for name, copies in before.items() if not all(map(is_same, copies))]
        new = [name for name in written if not self.parameters[name].is_written]
        for name in new:
            self.parameters[name].is_written = True
        try:
            returns = described_results(result, given)
        except NotDescribed as error:
            self._leave_out(str(error))
            return
        if new or returns != self.returns:
            self.returns = returns
            self._write()

    def _leave_out(self, why: str) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def _write(self) -> None:
        """Writes what is known by now."""
        parameters = [
            {"name": name} | each.facts(self.signature.default(name))
            for name, each in self.parameters.items()
        ]
        operators = [operator for _, operator in self.versions.values()]
        facts = {"function": self.name, "operators": operators, "parameters": parameters}
        write_line(facts | {"returns": self.returns})

    def finish(self) -> None:
        """Writes how many calls were left out."""
        for why, count in self.left_out.items():
            write_line({"left_out": self.name, "because": why, "count": count})


def has_tensor(value: Any) -> bool:
    """Whether an argument is a tensor or a list of tensors."""
    return isinstance(value, torch.Tensor) or (
        isinstance(value, list | tuple) and bool(value) and isinstance(value[0], torch.Tensor)
    )


def contents(given: dict[str, tuple[Any, bool]]) -> dict[str, list[tuple[torch.Tensor, torch.Tensor]]]:
    """The ordinary tensors of moderate size among the arguments, each with a copy of it, by parameter."""
    return {
        name: [
            (tensor, tensor.detach().clone())
            for tensor in (value if isinstance(value, list | tuple) else [value])
            if type(tensor) in (torch.Tensor, torch.nn.Parameter)
            and tensor.layout is torch.strided
            and tensor.device.type != "meta"
            and 0 < tensor.numel() * tensor.element_size() <= BYTES_WATCHED
        ]
        for name, (value, _) in given.items()
        if has_tensor(value)
    }


def is_same(pair: tuple[torch.Tensor, torch.Tensor]) -> bool:
    """Whether the tensor has the values of the copy; NaN equals NaN."""
    now, before = pair[0].detach(), pair[1]
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    return bool(((now == before) | ((now != now) & (before != before))).all())


def described_results(result: Any, given: dict[str, tuple[Any, bool]]) -> list[dict[str, Any]]:
    """What a schema says of the results. Raises NotDescribed."""
    results = list(result) if isinstance(result, tuple) else [] if result is None else [result]
    described = []
    for one in results:
        kind = "Tensor[]" if isinstance(one, list) and all(map(has_tensor, one)) else None
        if kind is None:
            try:
                kind = type_of(one)
            except NotDescribed:
                kind = "None"
        if kind not in ("Tensor", "Tensor[]", "int", "float", "bool"):
            raise NotDescribed(f"that return a {type(one).__name__}")
        same = [name for name, (value, _) in given.items() if value is one]
        described.append({"type": kind, "argument": same[0] if same else None})
    return described


def write_line(line: dict[str, Any]) -> None:
    """Adds one line to the log of this process. A log that is not there any more takes none."""
    folder = Path(os.environ["OPGATE_RECORD"])
    if folder.is_dir():
        with (folder / f"{os.getpid()}-functions.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")
