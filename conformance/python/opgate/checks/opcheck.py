"""opcheck: torch.library.opcheck as it stands, one check among many and never the proof."""

from __future__ import annotations

import torch

from opgate.call import Call, first_line, split_keywords
from opgate.check import check
from opgate.judgement import PASS, Judgement, fail


@check(
    "opcheck",
    promise="torch.library.opcheck passes.",
    why="It checks the registrations: schema, autograd keys, a fake kernel, AOTAutograd with dynamic "
    "shapes. It compares the operator with itself on cloned inputs, so that strides, gaps and offsets in "
    "values go unseen.",
    fix="Its message names the failing test; see torch.library.opcheck in the PyTorch documentation.",
    example="An operator without a fake kernel; one whose schema does not say that it mutates an argument.",
    variants="same_sizes",  # it takes an exception for a fault, and other sizes may be refused
)
def judge(call: Call) -> Judgement:
    """Runs all its tests on the case's arguments."""
    try:
        torch.library.opcheck(call.overload, *split_keywords(call.overload, call.arguments()))
    except Exception as error:  # opcheck wraps whatever the operator raises
        lines = [line for line in str(error).splitlines() if line.strip()]
        return fail("torch.library.opcheck passes", first_line(error), detail=lines[1:6])
    return PASS
