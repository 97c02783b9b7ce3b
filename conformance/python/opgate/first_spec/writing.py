"""Writes a spec as the text of a Python module, in which question marks mark the open questions."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Any

from opgate.first_spec.operators import Operator

WIDTH = 100
SAMPLES = 6
"""The most samples that are written out; `opgate run` takes the others from the recordings."""
NUMBERS = 64
"""The most values of a tensor that are written out."""


def number(value: float) -> str:
    """The number as Python text, in few digits."""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def matter(values: list[float]) -> bool:
    """Whether the values look chosen, as indices, boxes and offsets are, and not drawn at random."""
    pairs = list(zip(values, values[1:], strict=False))
    is_sorted = len(values) > 2 and all(low <= high for low, high in pairs)
    return all(value == int(value) for value in values) or is_sorted or len(set(values)) * 2 < len(values)


def tensor(described: dict[str, Any]) -> str:
    """The tensor as a call of a function of opgate.specs.domains."""
    shape = tuple(described["shape"])
    family, _, rest = described["values"].partition("(")
    parameters = [float(part) for part in rest.rstrip(")").split(",") if part]
    sizes = ", ".join(map(str, shape))
    count = math.prod(shape)
    whole = family == "literal" and len(parameters) == count and all(map(math.isfinite, parameters))
    if whole and count > 1 and len(set(parameters)) == 1:
        text = f"opgate.values([{number(parameters[0])}] * {count}, shape={shape})"
    elif whole and count <= NUMBERS and matter(parameters):
        text = f"opgate.values([{', '.join(map(number, parameters))}], shape={shape})"
    elif family == "literal" and parameters:
        finite = [value for value in parameters if math.isfinite(value)] or [0.0]
        low, high = min(finite), max(finite)
        high = high if high > low else low + 1
        text = f"opgate.uniform({sizes}, low={number(low)}, high={number(high)})"
    elif family == "uniform" and parameters:
        text = f"opgate.uniform({sizes}, low={number(parameters[0])}, high={number(parameters[1])})"
    elif family in ("indices", "sorted_indices"):
        text = f"opgate.{family}({sizes}, n={number(parameters[0])})"
    else:
        text = f"opgate.uniform({sizes})"
    dtype = described.get("dtype")
    implied = dtype == "int64" and family in ("indices", "sorted_indices")
    return text if dtype is None or implied else f"{text}.of(torch.{dtype})"


def argument(value: Any) -> str:
    """The argument of a sample as Python text."""
    if not isinstance(value, dict):
        return repr(value)
    if "tensors" in value:
        return f"[{', '.join('None' if part is None else tensor(part) for part in value['tensors'])}]"
    if "number" in value:
        return f'float("{value["number"]}")'
    if "complex" in value:
        return repr(complex(*value["complex"]))
    if value.get("device") == "of the case":
        return "opgate.device_of_case"
    if "seed" in value:
        return "None"  # a generator: the default one
    return tensor(value)


def call(word: str, arguments: list[str], remark: str) -> str:
    """The text spec.WORD(...), on several lines where it does not fit on one."""
    line = f"    spec.{word}({', '.join(arguments)})"
    told = f"  # {remark}" if remark else ""
    if len(line) + len(told) <= WIDTH:
        return line + told
    return f"    spec.{word}({told}\n{packed(arguments)}    )"


def packed(arguments: list[str]) -> str:
    """The arguments, several in one line where they are short."""
    lines = [""]
    for part in arguments:
        if lines[-1] and len(lines[-1]) + len(part) > WIDTH - 12:
            lines.append("")
        lines[-1] += f"{', ' if lines[-1] else ''}{part}"
    return "".join(f"        {line},\n" for line in lines)


def samples(operator: Operator, guessed: list[Any] | None) -> list[str]:
    """The lines for the most frequent recorded samples, or for the guessed one."""
    if operator.recorded is not None:
        frequent = sorted(operator.recorded["samples"], key=lambda sample: -sample["calls"])[:SAMPLES]
        written = [sample for sample in operator.recorded["samples"] if sample in frequent]
        return [
            call("sample", [argument(value) for value in sample["arguments"]], f"{sample['calls']} calls")
            for sample in written
        ]
    assert guessed is not None
    question = "? guessed, and accepted: what is it called with in practice"
    return [call("sample", [argument(value) for value in guessed], question)]


def dtypes(operator: Operator) -> list[str]:
    """One line for each device."""
    recorded = operator.recorded["dtypes"] if operator.recorded is not None else {}
    lines = []
    for device in operator.devices():
        seen = recorded.get(device)
        names = ", ".join(f"torch.{name}" for name in seen or ["float32"])
        if seen:
            lines.append(f'    spec.dtypes({names}, device="{device}")  # ? recorded; which others')
        elif device == "cpu":
            lines.append(f'    spec.dtypes({names}, device="{device}")  # ? a guess: which dtypes')
        else:
            lines.append(f'    # spec.dtypes({names}, device="{device}")  # ? it has a kernel: which dtypes')
    return lines


def trusted(operator: Operator) -> list[str]:
    """Lines for arguments with recorded integers: the schema does not say what they are indices of."""
    if operator.recorded is None:
        return []
    found = set()
    for sample in operator.recorded["samples"]:
        for formal, value in zip(operator.schema.arguments, sample["arguments"], strict=False):
            parts = value.get("tensors", [value]) if isinstance(value, dict) else []
            if any(part is not None and "int" in part.get("dtype", "") for part in parts):
                found.add(formal.name)
    names = [formal.name for formal in operator.schema.arguments if formal.name in found]
    return [
        f'    spec.trusts("{name}")  # ? callers are responsible for its values; if not, drop this line'
        for name in names
    ]


def head(operator: Operator) -> str:
    """The docstring and the imports of the file."""
    about = f'"""{operator.name}: what it promises.'
    return f"""{about}

Written by `opgate init`, for you to edit. Answer the questions in the lines with a question mark. Then remove
spec.draft(), so that OpGate checks every promise of the operator.
\"\"\"

import opgate
import torch
"""


def schema_comment(operator: Operator) -> str:
    """The schema as comment lines."""
    return textwrap.fill(
        operator.schema_text,
        WIDTH,
        initial_indent="    # ",
        subsequent_indent="    #     ",
        break_long_words=False,
    )


def module(operator: Operator, guessed: list[Any] | None, refusal: str, registered: str | None = None) -> str:
    """The text of the file. Without a sample that the operator accepts, all but the imports is a comment.

    `registered` is the name of the operator as which another draft registers a function.
    """
    names = ", ".join(re.sub(r"\W", "_", argument.name) for argument in operator.schema.arguments)
    names = names if len(names) < WIDTH // 3 else "*arguments"
    differentiated = operator.recorded is not None and operator.recorded["differentiated"]
    body = [
        f'@opgate.spec("{registered or operator.name}")',
        f"def {operator.word}(spec: opgate.OpSpec) -> None:",
        schema_comment(operator),
        "    spec.draft()  # until there is a reference: what the spec does not say is not checked",
        f"    # spec.reference(lambda {names}: ...)  # ? what it must compute, in plain PyTorch",
        "    # spec.accuracy(opgate.ulps(4))  # ? how close to it; opgate.exact() for what only moves data",
        *dtypes(operator),
        '    spec.promises("differentiable")  # ? gradients were computed; "twice_differentiable", too'
        if differentiated
        else '    # spec.promises("differentiable")  # ? does it support autograd',
        '    # spec.promises("deterministic")  # ? are its bits the same on every call',
        *trusted(operator),
    ]
    if operator.recorded is None and guessed is None:
        body.append("    spec.sample()  # ? what is it called with")
        told = f"# ? No call of it was recorded, and no guess was accepted; the last: {refusal}"
        return (
            "\n".join([head(operator), *textwrap.wrap(told, WIDTH, subsequent_indent="# "), *commented(body)])
            + "\n"
        )
    return "\n".join([head(operator), "", *body, *samples(operator, guessed)]) + "\n"


def commented(lines: list[str]) -> list[str]:
    """Each line of each text as a comment."""
    return [f"# {line}".rstrip() for text in lines for line in text.splitlines()]
