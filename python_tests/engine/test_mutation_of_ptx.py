"""Which mutants a source of PTX has."""

from __future__ import annotations

from pathlib import Path

import pytest
from opgate.mutation.build import read
from opgate.mutation.mutant import Mutant
from opgate.mutation.ptx.language import described

KERNEL = """.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 result) outside (.param .b32 x);
.func (.reg .f32 %r) twice (.reg .f32 %x)
{{
    add.f32 %r, %x, %x;  // a sum; of two
    ret;
}}
.visible .entry kernel(.param .u64 x)
{{
    .reg .pred %p<3>;
    {}
}}
"""


def mutants_of(folder: Path, code: str) -> list[Mutant]:
    """The mutants of a kernel with this code."""
    (folder / "kernel.ptx").write_text(KERNEL.format(code))
    source = read(folder, "kernel.ptx")
    mutants = source.mutants
    for_device = described(folder, source, [mutant.number for mutant in mutants])["mutants"]
    for mutant, each in zip(mutants, for_device, strict=True):
        found = source.content[each["begin"] : each["end"]].decode()
        assert " ".join(found.split()) == mutant.original
        assert each["kernel"] == ("" if mutant.place.function == "twice" else "kernel")
    return [mutant for mutant in mutants if mutant.place.function == "kernel"]


@pytest.mark.parametrize(
    ("code", "mutated"),
    [
        ("setp.lt.s32 \t%p1, %r1, %r2;", ["setp.le.s32 %p1, %r1, %r2;"]),
        ("setp.lt.s32 %p1, %r1, 7;", ["setp.le.s32 %p1, %r1, 7;", "setp.lt.s32 %p1, %r1, 8;"]),
        ("mul.lo.s32 %r1, %r2, %r3;", ["add.s32 %r1, %r2, %r3;"]),
        ("mul.wide.u32 %rd1, %r2, %r3;", []),
        ("fma.rn.f32 %f1, %f2, %f3, %f4;", ["mul.rn.f32 %f1, %f2, %f3;"]),
        ("add.cc.u32 %r1, %r2, %r3;", []),
        ("and.pred %p1, %p2, %p3;", ["or.pred %p1, %p2, %p3;"]),
        ("@!%p1 st.global.f32 [%rd1+4], %f1;", ["st.global.f32 [%rd1+4], %f1;", ""]),
        ("@%p1 bra $L;", [""]),
        ("bra.uni $L;", []),
        ("$L: bar.sync 0;", [""]),
        ("st.param.b32 [x], %r1;", []),
        ("mov.u32 %r1, %tid.x;", ["mov.u32 %r1, %tid.y;"]),
        (
            "red.relaxed.gpu.global.add.f32 [%rd1], %f1;",
            [
                "{ .reg .f32 opgate_old; .reg .f32 opgate_sum; ld.global.f32 opgate_old, [%rd1]; "
                "add.f32 opgate_sum, opgate_old, %f1; st.global.f32 [%rd1], opgate_sum; }"
            ],
        ),
        (
            "atom.shared.add.u32 %r1, [%r2], 1;",
            [
                "{ .reg .u32 opgate_sum; ld.shared.u32 %r1, [%r2]; add.u32 opgate_sum, %r1, 1; "
                "st.shared.u32 [%r2], opgate_sum; }"
            ],
        ),
        ("// add.f32 %f1, %f2, %f3;", []),
        ("/* a { */ min.u32 %r1, %r2, %r3;", ["max.u32 %r1, %r2, %r3;"]),
        ("ld.global.v2.f32 {{%f1, %f2}}, [%rd1];", []),
    ],
)
def test_the_mutants_of_an_instruction(code: str, mutated: list[str], tmp_path: Path) -> None:
    """In comments there are none, and none that PTX would refuse."""
    assert [
        mutant.mutated for mutant in mutants_of(tmp_path, code.replace("{{", "{").replace("}}", "}"))
    ] == mutated


def test_the_place_of_a_mutant(tmp_path: Path) -> None:
    """Lines and columns count from 1; functions that kernels call have mutants of their own."""
    mutants_of(tmp_path, "ret;")
    (mutant,) = read(tmp_path, "kernel.ptx", 5).mutants
    assert (mutant.number, mutant.place.line, mutant.place.column, mutant.place.function) == (
        5,
        7,
        5,
        "twice",
    )
    assert (mutant.original, mutant.mutated) == ("add.f32 %r, %x, %x;", "sub.f32 %r, %x, %x;")
