"""aoti.dynamic: one AOTInductor package serves other sizes than those it was compiled with."""

from __future__ import annotations

from opgate.calls.call import Call, first_line, flat_tensors
from opgate.calls.resize import other_inputs, shapes
from opgate.judging.judgement import PASS, Judgement, fail, owed
from opgate.judging.registry import ONCE, check
from opgate.packages.package import snapshot

PROMISED = "the package, compiled once with open sizes, returns eager's values for other sizes"


@check(
    "aoti.dynamic",
    registered=True,
    over_torch=False,
    **ONCE,
    models=True,
    imports=("torch.export", "torch._inductor.compile_fx"),
    needs_package=True,
    needs_fake=True,
    needs_compiler=True,
)
def judge(call: Call) -> Judgement:
    """Runs the package for each size of the call again, with this size one larger."""
    call.eager()
    judged = False
    for _, tensors in other_inputs(call, call.tensors()):
        try:
            expected = flat_tensors(call.module()(*map(snapshot, tensors)))  # it may write its arguments
        except Exception:  # an operator in Python refuses by whatever it raises
            continue
        try:
            outputs = call.packages.outputs_for(call, tensors)
        except Exception as error:  # from the package, which calls such operators
            return fail(PROMISED, f"inputs of {shapes(tensors)}: {first_line(error)}")
        for output, wanted in zip(outputs, expected, strict=True):
            if difference := call.difference(output, wanted):
                return fail(PROMISED, f"inputs of {shapes(tensors)}: {difference}", differs="values")
        judged = True
    return PASS if judged else owed("the operator takes none of the sizes that could be made of this sample")
