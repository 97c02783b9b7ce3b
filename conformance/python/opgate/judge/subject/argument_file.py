"""Files with calls that programs have made of torch's operators, as BackendBench and TritonBench keep them.

    Operator: aten.add.Tensor
    cnt: 4, ((T([8, 512], f16), T([512], f16)), {'alpha': 2})

A tensor has sizes, a dtype, and strides if it is not contiguous. Its values are not kept.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from opgate.judge.subject.overload import TRACED_AS
from opgate.request import UserError

DTYPES = {
    "bf16": torch.bfloat16,
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "c32": torch.complex32,
    "c64": torch.complex64,
    "c128": torch.complex128,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "b8": torch.bool,
    "u8": torch.uint8,
}
NUMBERS = {"inf": math.inf, "nan": math.nan}


@dataclass(frozen=True)
class Described:
    """A tensor without its values. Strides are None if it is contiguous."""

    sizes: tuple[int, ...]
    dtype: torch.dtype
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True)
class TracedCall:
    """One call: the arguments, with a Described for each tensor, and its place in the file.

    Or the reason why it cannot be made again.
    """

    place: str
    positional: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def elements(self) -> int:
        """How many elements the tensors have together."""
        given = torch.utils._pytree.tree_leaves([self.positional, self.keywords])
        return sum(math.prod(each.sizes) for each in given if isinstance(each, Described))


def traced_calls(file: Path) -> dict[str, list[TracedCall]]:
    """The calls of each overload, by its name. Raises UserError for a file that is none or cannot be read."""
    calls: dict[str, list[TracedCall]] = {}
    name = ""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the calls of {file}: {error}") from None
    for number, line in enumerate(lines, 1):
        place = f"{file}:{number}"
        if matched := re.fullmatch(r"Operator: (\w+)\.(\w+)(?:\.(\w+))?\s*", line):
            namespace, plain, overload = matched.groups()
            name = f"{namespace}::{plain}" + (f".{overload}" if overload not in (None, "default") else "")
            name = TRACED_AS.get(name, name)
        elif matched := re.fullmatch(r"cnt: \d+, (.*)", line):
            if not name:
                raise UserError(
                    f"{place}: there is no line `Operator: NAMESPACE.NAME.OVERLOAD` before this call"
                )
            calls.setdefault(name, []).append(parsed(matched[1], place))
        elif line.strip():
            raise UserError(f"{place}: this is neither `Operator: ...` nor `cnt: N, (ARGUMENTS, KEYWORDS)`")
    if not calls:
        raise UserError(f"{file} has no calls: these are lines `cnt: N, (ARGUMENTS, KEYWORDS)`")
    return calls


def parsed(text: str, place: str) -> TracedCall:
    """The call of a line. Raises UserError for a line that has none."""
    try:
        expression = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise UserError(f"{place}: cannot read these arguments: {error}") from None
    match expression:
        case ast.Tuple([ast.Tuple(positional), ast.Dict() as keywords]):
            try:
                return TracedCall(place, tuple(map(value_of, positional)), value_of(keywords))
            except (ValueError, TypeError) as error:
                return TracedCall(place, problem=str(error))
    raise UserError(f"{place}: these are not `(ARGUMENTS, KEYWORDS)`, such as `((T([8], f16), 2), {{}})`")


def value_of(node: ast.expr) -> Any:
    """The value of an expression in such a line. Raises ValueError for one that is none."""
    match node:
        case ast.Constant(str(text)) if text in DTYPES:
            return DTYPES[text]
        case ast.Constant(value):
            return value
        case ast.Tuple(parts):
            return tuple(map(value_of, parts))
        case ast.List(parts):
            return list(map(value_of, parts))
        case ast.Dict(keys, values):
            return {value_of(key): value_of(part) for key, part in zip(keys, values, strict=True) if key}
        case ast.UnaryOp(ast.USub(), operand):
            return -value_of(operand)
        case ast.Name(name) if name in DTYPES:
            return DTYPES[name]
        case ast.Name(name) if name in NUMBERS:
            return NUMBERS[name]
        case ast.Attribute(ast.Name("torch" | "th"), name) if isinstance(
            getattr(torch, name, None), torch.dtype | torch.layout | torch.memory_format
        ):
            return getattr(torch, name)
        case ast.Call(ast.Name("T"), [sizes, dtype, *strides], []):
            return Described(tuple(value_of(sizes)), value_of(dtype), *map(tuple, map(value_of, strides)))
    raise ValueError(
        f"`{ast.unparse(node)}` is no tensor T(SIZES, DTYPE, STRIDES), number, string, or list of these"
    )


def drawn(call: TracedCall, signed: bool, integers: int) -> list[Any]:
    """The arguments of the call, [POSITIONAL, KEYWORDS], with values that torch's seed decides.

    Floating numbers are below 1, and negative as well if they are `signed`. Integers are below `integers`.
    """

    def tensor(described: Described) -> torch.Tensor:
        dtype, strides = described.dtype, described.strides
        count = math.prod(described.sizes)
        if strides is not None and count:
            count = 1 + sum((n - 1) * stride for n, stride in zip(described.sizes, strides, strict=True))
        if dtype.is_floating_point or dtype.is_complex:
            wide = torch.complex128 if dtype.is_complex else torch.float64
            values = torch.rand(count, dtype=wide)
            memory = (2 * values - 1 if signed else values).to(dtype)
        else:
            memory = torch.randint(2 if dtype == torch.bool else integers, (count,)).to(dtype)
        return (
            memory.view(described.sizes) if strides is None else memory.as_strided(described.sizes, strides)
        )

    def made(value: Any) -> Any:
        if isinstance(value, Described):
            return tensor(value)
        if isinstance(value, list | tuple):
            return type(value)(map(made, value))
        return value

    keywords = {name: made(value) for name, value in call.keywords.items()}
    return [list(map(made, call.positional)), keywords]
