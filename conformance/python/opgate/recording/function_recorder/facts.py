"""What calls of a function show of its schema: types of arguments, which are written, what is returned.

Only facts about single calls are collected here. spec/schema/function_schema.h makes the schema that fits
them all.
"""

from __future__ import annotations

from typing import Any

import torch

from .copies import copy_of
from .signature import NotDescribed, Signature

Given = dict[str, tuple[Any, bool]]
"""The arguments of a call by parameter, and whether each can be given by keyword only."""

BYTES_WATCHED = 1 << 22  # tensors with more bytes are not copied to see whether they are written
PLAIN = {bool: "bool", int: "int", float: "float", str: "str", torch.dtype: "ScalarType", type(None): "None"}
IN_LISTS = ("Tensor", "bool", "int", "float")


def type_of(value: Any) -> str:
    """The type of an argument in a schema; "None" for None, "[]" for an empty list. Raises NotDescribed."""
    if isinstance(value, torch.Tensor):
        return "Tensor"
    if (plain := PLAIN.get(type(value))) is not None:
        return plain
    if isinstance(value, list | tuple):
        types = {type_of(part) for part in value}
        if not types:
            return "[]"
        if types == {"int", "float"}:
            types = {"float"}
        if len(types) == 1 and (only := types.pop()) in IN_LISTS:
            return f"{only}[]"
    for kind, name in PLAIN.items():  # classes derived from them, such as enum.IntEnum
        if isinstance(value, kind):
            return name
    raise NotDescribed(f"a {type(value).__name__} as an argument")


class Facts:
    """What was seen of one function."""

    def __init__(self, name: str, signature: Signature) -> None:
        self.name, self.signature = name, signature
        self.parameters: dict[str, dict[str, Any]] = {}
        self.versions: dict[tuple[tuple[str, str], ...], str] = {}
        """The operators through which calls with these names and types of arguments pass."""
        self.returns: list[dict[str, Any]] | None = None
        self.is_launcher = False
        """Whether it is recorded because it names a kernel, which a check of arguments may do, too."""

    def add_version(self, types: tuple[tuple[str, str], ...], given: Given, operator: str) -> None:
        """Notes a call with arguments of these types."""
        self.versions[types] = operator
        for name, (value, by_keyword) in given.items():
            known = self.parameters.setdefault(name, {"written": False, "tuple": False, "keyword": False})
            known["keyword"] = known["keyword"] or by_keyword
            known["tuple"] = known["tuple"] or isinstance(value, tuple)
            default = self.signature.default(name)
            if default is None or isinstance(default, bool | int | float | str):
                known["default"] = default

    def look(self, given: Given, before: dict[str, Any], result: Any) -> bool:
        """Sees which arguments a call has written, and what it returned; whether any of it is new.

        Raises NotDescribed for a result that no schema can describe.
        """
        written = [name for name, copies in before.items() if not all(map(is_same, copies))]
        new = [name for name in written if not self.parameters[name]["written"]]
        for name in new:
            self.parameters[name]["written"] = True
        returns = described_results(result, given)
        if not new and returns == self.returns:
            return False
        self.returns = returns
        return True

    def line(self) -> dict[str, Any]:
        """The line {"function"} of record/log.h."""
        return {
            "function": self.name,
            "operators": {operator: dict(types) for types, operator in self.versions.items()},
            "parameters": [{"name": name} | known for name, known in self.parameters.items()],
            "returns": self.returns,
            "launcher": self.is_launcher,
        }


def has_tensor(value: Any) -> bool:
    """Whether an argument is a tensor or a list of tensors."""
    return isinstance(value, torch.Tensor) or (
        isinstance(value, list | tuple) and bool(value) and isinstance(value[0], torch.Tensor)
    )


def contents(given: Given) -> dict[str, list[tuple[torch.Tensor, torch.Tensor]]]:
    """The ordinary tensors of moderate size among the arguments, each with a copy of it, by parameter."""
    return {
        name: [
            (tensor, copy)
            for tensor in (value if isinstance(value, list | tuple) else [value])
            if type(tensor) in (torch.Tensor, torch.nn.Parameter)
            and 0 < tensor.numel() * tensor.element_size() <= BYTES_WATCHED
            and (copy := copy_of(tensor)) is not None
        ]
        for name, (value, _) in given.items()
        if has_tensor(value)
    }


def is_same(pair: tuple[torch.Tensor, torch.Tensor]) -> bool:
    """Whether the tensor has the values of the copy, as far as they are known; NaN equals NaN."""
    now, before = copy_of(pair[0]), pair[1]
    if now is None:
        return True
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    return bool(((now == before) | ((now != now) & (before != before))).all())


def described_results(result: Any, given: Given) -> list[dict[str, Any]]:
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
