"""fake.symbolic: with symbolic sizes the fake kernel answers in their terms, and rightly for other sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from opgate.call import Call, first_line, flat_tensors
from opgate.judgement import PASS, Judgement, fail
from opgate.registry import check
from opgate.resize import other_inputs, shapes

if TYPE_CHECKING:
    from opgate.symbolic_trace import Trace

PROMISED = "with symbolic sizes, the fake kernel's results are right for every size"


def judge_resized(
    call: Call, traced: Trace, tensors: list[torch.Tensor], size: int, other: list[torch.Tensor]
) -> Judgement:
    """Compares the trace's answer for `other`, with another size, with what the operator really returns."""
    try:
        with torch.no_grad():
            real = flat_tensors(call.module()(*(tensor.clone() for tensor in other)))
    except RuntimeError:
        return PASS  # the operator takes only this size: the trace may, too
    if fixed := traced.fixed_dims(size, tensors):
        number, dim = fixed[0]
        return fail(
            PROMISED,
            f"the fake kernel fixes dim {dim} of input {number} to {size}; "
            f"the operator itself takes {size + 1}, too",
            "the fake kernel reads a size as a number: in C++ .sizes() and .size() instead of .sym_sizes(), "
            "or a function that does (permute, view); in Python int(x.shape[0]), or a branch on it",
        )
    values = traced.assigned(other)
    if not traced.serves(values):
        return PASS
    for number, (fake, result) in enumerate(zip(traced.outputs, real, strict=False)):
        if fake.dim() != result.dim():
            return fail(PROMISED, f"output {number} has {fake.dim()} dims; really {result.dim()}")
        predicted, found = traced.told_apart(fake, result, values)
        if predicted != found:
            return fail(
                PROMISED,
                f"output {number}, traced with inputs of {shapes(tensors)} and asked for {shapes(other)}: "
                f"{predicted}; really {found}",
                "sizes or strides are computed from the example's numbers",
            )
    return PASS


@check(
    "fake.symbolic",
    promise="With symbolic sizes, backed and unbacked, the fake kernel keeps them symbolic, and what it says "
    "is right for other sizes.",
    why="torch.compile(dynamic=True) and torch.export trace once for all sizes. A fake kernel that reads a "
    "size as a number does not fail: it fixes the program to the sizes of its example, and the program is "
    "compiled again for each new size, or is wrong for it.",
    fix="In a C++ meta kernel take sym_sizes(), sym_size(), sym_numel() and at::empty_symint; compare with "
    "TORCH_SYM_CHECK. In Python pass shapes on as they are, and demand with torch._check.",
    example="FBGEMM 5910, pytorch 156622: meta kernels that specialise.",
    wrong="""
        at::Tensor flattened_meta(const at::Tensor& x) {
          return at::empty({x.numel()}, x.options());  // the example's number
        }
    """,
    right="""
        at::Tensor flattened_meta(const at::Tensor& x) {
          return at::empty_symint({x.sym_numel()}, x.options());
        }
    """,
    variants="contiguous",
)
def judge(call: Call) -> Judgement:
    """Traces the call with symbols for all sizes, and looks at what became of them."""
    from opgate.symbolic_trace import (
        KINDS,
        trace,
    )  # costs as much as torch itself: only where it is asked for

    tensors = call.tensors()
    for told, kind in KINDS.items():
        try:
            traced = trace(call, tensors, kind)
        except Exception as error:  # a fake kernel raises what it likes
            return fail(
                PROMISED,
                f"with {told} the fake kernel raised: {first_line(error)}",
                "it asks for the value of a size, or of an element"
                if "Guard" in type(error).__name__ or "DataDependent" in type(error).__name__
                else "",
            )
        for size, other in other_inputs(call, tensors):
            judgement = judge_resized(call, traced, tensors, size, other)
            if judgement != PASS:
                return judgement
    return PASS
