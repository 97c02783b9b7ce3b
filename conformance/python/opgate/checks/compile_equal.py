"""compile.equal: compiled without a graph break, for fixed and for dynamic sizes, the call equals eager."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from opgate.calls.call import Call, flat_tensors
from opgate.calls.comparing import difference_at_largest, strides
from opgate.calls.resize import other_inputs, shapes
from opgate.judging.compiler_failure import judge_failure
from opgate.judging.judgement import PASS, Judgement, fail, first_failure, owed
from opgate.judging.registry import ONCE, check

PROMISED = "compiled without a graph break, the call returns what eager returns"
# The compiler computes gradients with operators of its own, which round differently: as in grad.reference.
GRADIENT_ULPS = 64.0


@dataclass(frozen=True)
class Seen:
    """What a call leaves: its results, its inputs after the call, and the gradients of its leaf inputs."""

    results: list[torch.Tensor]
    inputs: list[torch.Tensor]
    gradients: list[torch.Tensor]


def run(function: Callable[..., Any], tensors: list[torch.Tensor], *, gradients: bool) -> Seen:
    """Calls `function` on copies of the tensors; with `gradients` its backward, on cotangents of ones."""
    inputs = [tensor.clone() for tensor in tensors]
    leaves = [tensor.requires_grad_() for tensor in inputs if gradients and tensor.is_floating_point()]
    with torch.set_grad_enabled(gradients):
        results = flat_tensors(function(*inputs))
    roots = [result for result in results if result.requires_grad]
    arrived: list[torch.Tensor | None] = []
    if roots:
        incoming = [torch.ones_like(root) for root in roots]
        arrived = list(torch.autograd.grad(roots, leaves, incoming, allow_unused=True))
    return Seen(
        [result.detach() for result in results],
        [tensor.detach() for tensor in inputs],
        [gradient for gradient in arrived if gradient is not None],
    )


def difference(call: Call, got: Seen, want: Seen) -> tuple[str, str] | None:
    """The first difference, in values, strides or gradients (64 ulps), and which of them it is.

    None without one.
    """
    for what, mine, theirs in (("output", got.results, want.results), ("input", got.inputs, want.inputs)):
        if len(mine) != len(theirs):
            return f"{len(mine)} tensors returned, not {len(theirs)}", "metadata"
        for number, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if text := call.difference(a, b):
                return f"{what} {number}: {text}", "values"
            if strides(a) != strides(b):
                return (
                    f"{what} {number} has strides {list(a.stride())}; in eager {list(b.stride())}",
                    "metadata",
                )
    if len(got.gradients) != len(want.gradients):
        return f"{len(got.gradients)} inputs have gradients, not {len(want.gradients)}", "gradients"
    if call.draws_random_numbers:
        return None
    for number, (a, b) in enumerate(zip(got.gradients, want.gradients, strict=True)):
        if text := difference_at_largest(a, b, GRADIENT_ULPS):
            return f"gradient {number}: {text}", "gradients"
    return None


def judge_static(call: Call, tensors: list[torch.Tensor]) -> Judgement:
    """Compiles for these sizes alone, without gradients, and compares with eager."""
    torch._dynamo.reset()
    compiled = torch.compile(call.module(), fullgraph=True, dynamic=False)
    try:
        got = run(compiled, tensors, gradients=False)
    except Exception as error:  # the compiler raises errors of many kinds
        return judge_failure(error, PROMISED, "torch.compile(fullgraph=True)")
    if found := difference(call, got, run(call.module(), tensors, gradients=False)):
        text, what = found
        return fail(PROMISED, f"compiled for fixed sizes: {text}", differs=what)
    return PASS


def judge_dynamic(call: Call, tensors: list[torch.Tensor]) -> Judgement:
    """Compiles once for all sizes, with gradients where the spec promises them, and compares with eager."""
    gradients = "differentiable" in call.described["promises"]
    torch._dynamo.reset()
    compiled = torch.compile(call.module(), fullgraph=True, dynamic=True)
    for number, inputs in enumerate([tensors, *(other for _, other in other_inputs(call, tensors))]):
        try:
            want = run(call.module(), inputs, gradients=gradients)
        except Exception:  # an operator in Python refuses a size by whatever it raises
            continue
        told = shapes(inputs)
        try:
            with torch._dynamo.config.patch(error_on_recompile=number > 0):
                got = run(compiled, inputs, gradients=gradients)
        except torch._dynamo.exc.RecompileError as error:
            return fail(
                PROMISED,
                f"compiled with dynamic=True, inputs of {told} make it compile again",
                "the fake kernel fixes a size; see fake.symbolic",
                detail=[line for line in str(error).splitlines() if line.strip()][-3:],
            )
        except Exception as error:  # the compiler raises errors of many kinds
            return judge_failure(error, PROMISED, "torch.compile(fullgraph=True, dynamic=True)")
        if found := difference(call, got, want):
            text, what = found
            return fail(PROMISED, f"compiled with dynamic=True, inputs of {told}: {text}", differs=what)
    return PASS


@check(
    "compile.equal",
    registered=True,
    over_torch=False,
    over_autograd=True,
    slow=True,
    needs_compiler=True,
    needs_fake=True,
    imports=("torch._dynamo", "torch._functorch.config", "torch._inductor.compile_fx"),
    **ONCE,
    models=True,
)
def judge(call: Call) -> Judgement:
    """Compiles the call for static and for dynamic sizes, and compares each with eager."""
    import torch._functorch.config  # not with this module: a worker that compiles nothing starts sooner

    tensors = call.tensors()
    if not call.eager() and not call.is_model and call.overload._schema.returns:
        return owed("the operator returns no tensor, and torch.compile traces no such operator")
    # AOTAutograd's cache on disk knows an operator by its name, and would return what an earlier build was
    # traced to.
    with torch._functorch.config.patch(enable_autograd_cache=False):
        return first_failure(judge(call, tensors) for judge in (judge_static, judge_dynamic))
