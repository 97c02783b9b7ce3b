"""fake.symbolic: with symbolic sizes the fake kernel keeps them symbolic, and is right for other sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from opgate.calls.call import Call, first_line, flat_tensors
from opgate.calls.resize import other_inputs, shapes
from opgate.judging.judgement import PASS, Judgement, fail, first_failure
from opgate.judging.registry import check

if TYPE_CHECKING:
    from opgate.calls.symbolic_trace import Trace

PROMISED = "with symbolic sizes, the fake kernel's results are right for every size"
CURE_OF_UNBACKED = (
    "if it shall serve such sizes, as those of nonzero(): a torch._check(...) for each condition on sizes "
    "(TORCH_SYM_CHECK in C++), which asks for no value; and the spec promises unbacked_sizes"
)


def judge_resized(
    call: Call, traced: Trace, tensors: list[torch.Tensor], size: int, other: list[torch.Tensor]
) -> Judgement:
    """Compares what the trace predicts for `other`, where `size` is larger by one, with the real results."""
    try:
        with torch.no_grad():
            real = flat_tensors(call.module()(*(tensor.clone() for tensor in other)))
    except Exception:  # an operator in Python refuses by whatever it raises
        return PASS  # it takes only this size, so the trace may fix it, too
    if fixed := traced.fixed_dims(size, tensors):
        number, dim = fixed[0]
        return fail(
            PROMISED,
            f"the fake kernel fixes dim {dim} of input {number} to {size}; "
            f"the operator itself takes {size + 1}, too",
            "the fake kernel reads a size as a number: in C++ by .sizes() or .size() instead of "
            ".sym_sizes(); in Python by int(x.shape[0]), or a branch on it",
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
                "the fake kernel computes sizes or strides from the numbers of the example",
            )
    return PASS


def judge_traced(call: Call, tensors: list[torch.Tensor], sizes: str) -> Judgement:
    """Traces the call with `sizes`, a key of KINDS, and checks that they stay symbolic and are right."""
    # This import takes as long as torch's own, so only this check pays for it.
    from opgate.calls.symbolic_trace import KINDS, trace

    try:
        traced = trace(call, tensors, KINDS[sizes])
    except Exception as error:  # a fake kernel raises what it likes
        return fail(
            PROMISED,
            f"with {sizes} the fake kernel raised: {first_line(error)}",
            "it asks for the value of a size, or of an element"
            if "Guard" in type(error).__name__ or "DataDependent" in type(error).__name__
            else "",
        )
    others = other_inputs(call, tensors)
    return first_failure(judge_resized(call, traced, tensors, size, other) for size, other in others)


@check(
    "fake.symbolic",
    registered=True,
    over_torch=False,
    needs_fake=True,
    imports=("torch.fx.experimental.proxy_tensor",),
    variants="contiguous",
)
def judge(call: Call) -> Judgement:
    """Judges the fake kernel with backed sizes, and with unbacked ones, which only a spec can promise."""
    from opgate.calls.symbolic_trace import BACKED, UNBACKED

    tensors = call.tensors()
    backed = judge_traced(call, tensors, BACKED)
    if backed != PASS:
        return backed
    unbacked = judge_traced(call, tensors, UNBACKED)
    if unbacked == PASS or "unbacked_sizes" in call.described["promises"]:
        return unbacked
    return replace(unbacked, verdict="pass", likely=CURE_OF_UNBACKED)
