"""The mistakes that are made in instructions of PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Instruction:
    """`@guard opcode operands;`"""

    guard: str
    """Without the @; empty if there is none."""
    opcode: str
    operands: list[str]

    def text(self) -> str:
        """The instruction as PTX."""
        guard = f"@{self.guard} " if self.guard else ""
        operands = f" {', '.join(self.operands)}" if self.operands else ""
        return f"{guard}{self.opcode}{operands};"

    def with_words(self, *words: str) -> str:
        """The instruction with another opcode, as PTX."""
        return replace(self, opcode=".".join(words)).text()

    def with_last(self, operand: str) -> str:
        """The instruction with another last operand, as PTX."""
        return replace(self, operands=[*self.operands[:-1], operand]).text()

    @property
    def words(self) -> list[str]:
        """The parts of the opcode: add, rn, f32."""
        return self.opcode.split(".")


_NEIGHBOURS = {"lt": "le", "gt": "ge", "eq": "ne", "lo": "ls", "hi": "hs"}
_NEIGHBOURS |= {"ltu": "leu", "gtu": "geu", "equ": "neu"}
_COMPARISONS = _NEIGHBOURS | {other: one for one, other in _NEIGHBOURS.items()}
_OPPOSITES = {"add": "sub", "sub": "add", "min": "max", "max": "min", "and": "or", "or": "and"}
_AXES = {"%tid.x": "%tid.y", "%ctaid.x": "%ctaid.y", "%ntid.x": "%ntid.y", "%nctaid.x": "%nctaid.y"}
_BARRIERS = ("bar", "barrier", "membar", "fence", "mbarrier")
_WITH_NUMBERS = ("add", "sub", "setp", "shl", "shr", "mul", "mad", "and", "mov")
_NUMBER_TYPES = ("s16", "u16", "s32", "u32", "s64", "u64", "b16", "b32", "b64")
_ADDITION = re.compile(
    r"^(red|atom)(?:\.\w+)*?\.(global|shared)(?:\.\w+)*?\.add(?:\.noftz)?\.(f32|f64|u32|s32|u64)$"
)


def comparison(instruction: Instruction) -> Iterator[str]:
    """`setp.lt` becomes `setp.le`."""
    words = instruction.words
    if words[0] in ("setp", "set") and len(words) > 1 and words[1] in _COMPARISONS:
        yield instruction.with_words(words[0], _COMPARISONS[words[1]], *words[2:])


def arithmetic(instruction: Instruction) -> Iterator[str]:
    """`add` and `sub`, `mul` and `add`, `min` and `max`; a product without its sum."""
    words = instruction.words
    if words[0] in ("add", "sub", "min", "max") and "cc" not in words:
        yield instruction.with_words(_OPPOSITES[words[0]], *words[1:])
    elif words[0] == "mul" and not {"hi", "wide"} & set(words):
        yield instruction.with_words("add", *(word for word in words[1:] if word != "lo"))
    elif words[0] in ("fma", "mad") and not {"hi", "wide", "cc"} & set(words):
        yield replace(instruction, operands=instruction.operands[:3]).with_words("mul", *words[1:])


def logic(instruction: Instruction) -> Iterator[str]:
    """`and.pred` and `or.pred`; `not.pred` is left out."""
    if instruction.opcode in ("and.pred", "or.pred"):
        yield instruction.with_words(_OPPOSITES[instruction.words[0]], "pred")
    elif instruction.opcode == "not.pred":
        yield instruction.with_words("mov", "pred")


def mask(instruction: Instruction) -> Iterator[str]:
    """A load, a store or an atomic operation runs whatever its predicate is."""
    if instruction.guard and instruction.words[0] in ("ld", "st", "red", "atom"):
        yield replace(instruction, guard="").text()


def condition(instruction: Instruction) -> Iterator[str]:
    """A conditional branch, or return, is left out."""
    if instruction.guard and instruction.words[0] in ("bra", "ret", "exit"):
        yield ""


def deletion(instruction: Instruction) -> Iterator[str]:
    """A store, a barrier or a fence is left out."""
    words = instruction.words
    is_store = words[0] == "st" and "param" not in words
    if is_store or (words[0] in _BARRIERS and "init" not in words):
        yield ""


def atomic(instruction: Instruction) -> Iterator[str]:
    """An atomic addition becomes a load, an addition and a store."""
    found = _ADDITION.match(instruction.opcode)
    if found is None or instruction.guard:
        return
    name, space, kind = found.groups()
    *to, place, value = instruction.operands
    old = to[0] if name == "atom" and to else "opgate_old"
    declared = "" if old != "opgate_old" else f".reg .{kind} opgate_old; "
    yield (
        f"{{ {declared}.reg .{kind} opgate_sum; ld.{space}.{kind} {old}, {place}; "
        f"add.{kind} opgate_sum, {old}, {value}; st.{space}.{kind} {place}, opgate_sum; }}"
    )


def constant(instruction: Instruction) -> Iterator[str]:
    """`n` becomes `n + 1` where it is the last operand."""
    words = instruction.words
    last = instruction.operands[-1] if instruction.operands else ""
    if words[0] in _WITH_NUMBERS and words[-1] in _NUMBER_TYPES and re.fullmatch(r"-?\d+", last):
        yield instruction.with_last(str(int(last) + 1))


def axis(instruction: Instruction) -> Iterator[str]:
    """`%tid.x` becomes `%tid.y`."""
    if instruction.words[0] == "mov" and instruction.operands[-1] in _AXES:
        yield instruction.with_last(_AXES[instruction.operands[-1]])


KINDS = (comparison, arithmetic, logic, mask, condition, deletion, atomic, constant, axis)
"""Each is known by its name."""
