"""opcheck: torch.library.opcheck passes. It is one check among many, and no proof."""

from __future__ import annotations

import torch

from opgate import _engine
from opgate.call import Call, first_line, keyword_names, split_keywords
from opgate.judgement import PASS, Judgement, fail, owed
from opgate.registry import check

# This test regards NaN as different from NaN, and compares results that the operator leaves uninitialised.
TRACES = "test_aot_dispatch_dynamic"


@check(
    "opcheck",
    promise="torch.library.opcheck passes.",
    why="It checks the registrations: schema, autograd keys, a fake kernel, AOTAutograd with dynamic "
    "shapes. It compares the operator with itself on cloned inputs, so it does not see a mistake with "
    "strides, gaps or offsets. Its comparison under AOTAutograd regards NaN as different from NaN: where a "
    "result has NaN, only its other tests count.",
    fix="Its message names the failing test; see torch.library.opcheck in the PyTorch documentation.",
    example="An operator without a fake kernel; one whose schema does not say that it mutates an argument.",
    wrong="""
        @torch.library.custom_op("my_ops::add_one", mutates_args=())
        def add_one(x: torch.Tensor) -> None:
            x.add_(1)  # the schema says that x is only read
    """,
    right="""
        @torch.library.custom_op("my_ops::add_one", mutates_args=("x",))
        def add_one(x: torch.Tensor) -> None:
            x.add_(1)
    """,
    needs_fake=True,
    imports=("torch.testing._internal.optests",),
    variants="same_sizes",  # opcheck fails on an exception, and operators may refuse other sizes
)
def judge(call: Call) -> Judgement:
    """Runs all tests of opcheck on the case's arguments."""
    results = call.eager()
    if any(result.layout != torch.strided for result in results):
        return owed("the operator returns a sparse tensor, which opcheck cannot compare")
    arguments = split_keywords(call.arguments(), keyword_names(call.overload))
    said = torch.library.opcheck(call.overload, *arguments, raise_exception=False)
    wrong = {test: error for test, error in said.items() if isinstance(error, Exception)}
    if TRACES in wrong and (any(map(holds_nan, results)) or _engine.leaves_results_untouched(call.id)):
        del wrong[TRACES]
    for test, error in wrong.items():
        lines = [line for line in str(error).splitlines() if line.strip()]
        return fail(
            "torch.library.opcheck passes", f"{test}: {first_line(error)}", detail=lines[1:6], about=test
        )
    return PASS


def holds_nan(result: torch.Tensor) -> bool:
    """Whether `result` has a NaN."""
    return bool(result.isnan().any()) if result.is_floating_point() or result.is_complex() else False
