"""aoti.python: the AOTInductor package, run in Python, equals eager."""

from __future__ import annotations

from opgate.calls.call import Call, first_line
from opgate.judging.judgement import PASS, Judgement, fail
from opgate.judging.registry import check

PROMISED = "the package, run in Python, returns eager's values"


@check(
    "aoti.python",
    registered=True,
    over_torch=False,
    variants="packaged",
    models=True,
    imports=("torch.export", "torch._inductor.compile_fx"),
    needs_package=True,
    needs_fake=True,
)
def judge(call: Call) -> Judgement:
    """Compares the package's outputs for this call with eager's."""
    eager = call.eager()
    try:
        outputs = call.packages.outputs(call)
    except Exception as error:  # from the package, which calls operators in Python
        return fail(PROMISED, first_line(error))
    if len(outputs) != len(eager):
        return fail(PROMISED, f"{len(outputs)} tensors returned, not {len(eager)}")
    for output, expected in zip(outputs, eager, strict=True):
        if difference := call.difference(output, expected):
            return fail(PROMISED, difference, differs="values")
    return PASS
