"""Finds mutants of PTX, which the simulated device reads instead of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opgate.mutation.mutant import Mutant
from opgate.mutation.ptx_kinds import KINDS, Instruction

ENDING = ".ptx"

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(rb"\.(entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$.]+)")
_INSTRUCTION = re.compile(
    rb"(?<=[;{}:\n])\s*(?P<code>(?:@(?P<guard>!?[%$\w]+)\s+)?(?P<opcode>[a-z][\w.:]*)(?:\s+(?P<operands>[^;{}]+))?;)"
)


@dataclass(frozen=True)
class PtxChange:
    """An instruction in the bytes of a source, and what stands there instead."""

    kind: str
    begin: int
    end: int
    function: str
    kernel: str
    """The same if it is a kernel; empty for a function that kernels call."""
    original: str
    mutated: str


@dataclass
class PtxSource:
    """A source of PTX, and the changes that can be made to it."""

    file: str
    content: bytes
    changes: list[PtxChange]


def ptx_source_of(root: Path, file: str) -> PtxSource:
    """Reads a source, whose path is relative to `root`, and finds its changes."""
    content = (root / file).read_bytes()
    return PtxSource(file, content, list(_changes_in(content)))


def ptx_numbered(source: PtxSource, first: int) -> list[Mutant]:
    """The changes of a source as mutants with consecutive numbers."""
    mutants = []
    for index, change in enumerate(source.changes):
        line_begin = source.content.rfind(b"\n", 0, change.begin) + 1
        mutants.append(
            Mutant(
                first + index,
                change.kind,
                source.file,
                source.content.count(b"\n", 0, change.begin) + 1,
                change.begin - line_begin + 1,
                change.function,
                change.original,
                change.mutated,
            )
        )
    return mutants


def ptx_described(
    root: Path, source: PtxSource, mutants: Sequence[Mutant], chosen: Iterable[int]
) -> dict[str, Any]:
    """The source and its mutants of these numbers, as simulator/src/kernels/ptx_mutants.cpp reads them."""
    numbers = set(chosen)
    return {
        "file": str(root / source.file),
        "mutants": [
            {
                "number": mutant.number,
                "begin": change.begin,
                "end": change.end,
                "instead": change.mutated,
                "kernel": change.kernel,
            }
            for change, mutant in zip(source.changes, mutants, strict=True)
            if mutant.number in numbers
        ],
    }


def _changes_in(content: bytes) -> Iterator[PtxChange]:
    # As long as the source, so that places in both are the same.
    bare = _COMMENT.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]), content)
    for kind, name, begin, end in _bodies(bare):
        for found in _INSTRUCTION.finditer(bare, begin, end):
            parts = {key: (value or b"").decode(errors="replace") for key, value in found.groupdict().items()}
            instruction = Instruction(
                parts["guard"], parts["opcode"], [each.strip() for each in _operands(parts["operands"])]
            )
            original = " ".join(
                content[found.start("code") : found.end("code")].decode(errors="replace").split()
            )
            for name_of_kind, change in KINDS:
                for mutated in change(instruction):
                    yield PtxChange(
                        name_of_kind,
                        found.start("code"),
                        found.end("code"),
                        name,
                        name if kind == "entry" else "",
                        original,
                        mutated,
                    )


def _bodies(bare: bytes) -> Iterator[tuple[str, str, int, int]]:
    """What each function with a body is, its name, and where the body begins and ends."""
    for found in _FUNCTION.finditer(bare):
        begin = bare.find(b"{", found.end())
        if begin < 0 or 0 <= bare.find(b";", found.end()) < begin:
            continue  # a declaration
        depth, end = 0, begin
        while end < len(bare):
            depth += {b"{": 1, b"}": -1}.get(bare[end : end + 1], 0)
            end += 1
            if depth == 0:
                break
        yield found[1].decode(), found[2].decode(), begin, end


def _operands(text: str) -> list[str]:
    """The operands, which commas separate outside of brackets."""
    operands, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "[({") - (character in "])}")
        if character == "," and depth == 0:
            operands.append(text[begin:at])
            begin = at + 1
    return [*operands, text[begin:]] if text.strip() else []
