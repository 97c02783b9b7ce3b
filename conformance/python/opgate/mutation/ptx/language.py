"""Finds mutants of PTX, which the simulated device reads instead of the source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opgate.mutation.language import Build, Built, Source
from opgate.mutation.mutant import Mutant, Place
from opgate.mutation.ptx.kinds import KINDS, Instruction

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(rb"\.(entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$.]+)")
_INSTRUCTION = re.compile(
    rb"(?<=[;{}:\n])\s*(?P<code>(?:@(?P<guard>!?[%$\w]+)\s+)?(?P<opcode>[a-z][\w.:]*)(?:\s+(?P<operands>[^;{}]+))?;)"
)


@dataclass(frozen=True)
class PtxMutant(Mutant):
    """An instruction, and what stands there instead."""

    kernel: str = ""
    """In which it is; empty for a function that kernels call."""


class Ptx:
    """Sources that the simulated device reads with one mutant at a time."""

    endings = (".ptx",)

    def read(self, root: Path, file: str) -> Source[PtxMutant]:
        """Finds the mutants of a source."""
        content = (root / file).read_bytes()
        return Source(file, content, list(_mutants_in(content)))

    def write(self, request: Build, sources: list[Source[PtxMutant]], chosen: list[Mutant]) -> Built:
        """Writes the mutants into a file for the simulated device."""
        table = request.log.with_name("ptx_mutants.json")
        table.parent.mkdir(parents=True, exist_ok=True)
        numbers = {mutant.number for mutant in chosen}
        table.write_text(json.dumps([described(request.root, source, numbers) for source in sources]))
        return Built(chosen, environment={"OPGATE_PTX_MUTANTS": str(table)})


def described(root: Path, source: Source[PtxMutant], numbers: Iterable[int]) -> dict[str, Any]:
    """The source and its mutants of these numbers, as process/ptx_mutants.cpp of the engine reads them."""
    return {
        "file": str(root / source.file),
        "mutants": [
            {
                "number": mutant.number,
                "begin": mutant.place.begin,
                "end": mutant.place.end,
                "instead": mutant.mutated,
                "kernel": mutant.kernel,
            }
            for mutant in source.chosen(numbers)
        ],
    }


def _mutants_in(content: bytes) -> Iterator[PtxMutant]:
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
            place = _place(content, found.start("code"), found.end("code"), name)
            kernel = name if kind == "entry" else ""
            for mistake in KINDS:
                for mutated in mistake(instruction):
                    yield PtxMutant(mistake.__name__, place, original, mutated, kernel=kernel)


def _place(content: bytes, begin: int, end: int, function: str) -> Place:
    line_begin = content.rfind(b"\n", 0, begin) + 1
    return Place(content.count(b"\n", 0, begin) + 1, begin - line_begin + 1, begin, end, function)


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
