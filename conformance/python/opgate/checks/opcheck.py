"""opcheck: torch.library.opcheck passes. It is one check among many, and no proof."""

from __future__ import annotations

import torch

from opgate import _engine
from opgate.calls.call import Call, first_line, keyword_names, split_keywords
from opgate.judging.judgement import PASS, Judgement, fail, owed
from opgate.judging.registry import check

# This test regards NaN as different from NaN, and compares results that the operator leaves uninitialised.
TRACES = "test_aot_dispatch_dynamic"


@check(
    "opcheck",
    registered=True,
    over_torch=False,
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
    if TRACES in wrong and (
        any(bool(result.isnan().any()) for result in results) or _engine.leaves_results_untouched(call.id)
    ):
        del wrong[TRACES]
    for test, error in wrong.items():
        lines = [line for line in str(error).splitlines() if line.strip()]
        return fail(
            "torch.library.opcheck passes", f"{test}: {first_line(error)}", detail=lines[1:6], about=test
        )
    return PASS
