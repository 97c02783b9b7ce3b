"""compile.function: torch.compile of a Python function as it is gives what eager gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from opgate.calls.call import Call, first_line
from opgate.checks.compile_equal import Seen, difference, run
from opgate.functions.registered import FUNCTIONS, in_python
from opgate.judging.judgement import PASS, Judgement, fail
from opgate.judging.registry import ONCE, check

PROMISED = "compiled as it is, without being an operator, the function returns what eager returns"
TRACED = "torch.compile traces the function as it is, without a graph break"
# The traces of Dynamo and of autograd, without code that Inductor would make of them: what differs here is
# the function's doing.
BACKEND = "aot_eager"


def functions() -> list[str]:
    """The functions that Python code defines: Dynamo traces no function of an extension module."""
    return [name for name, function in FUNCTIONS.items() if in_python(function)]


def seen(module: Callable[..., Any], call: Call) -> tuple[Seen, bool]:
    """What a call leaves, and whether it has drawn random numbers."""
    torch.manual_seed(0)
    before = torch.get_rng_state()
    left = run(module, call.tensors(), gradients="differentiable" in call.described["promises"])
    return left, not torch.equal(before, torch.get_rng_state())


def place_of(reason: Any) -> str:
    """Where a trace ended, and why: "ops.py:12 in scaled: Dynamo does not know how to trace ..."."""
    lines = [line.strip().removeprefix("Explanation: ") for line in str(reason.reason).splitlines()]
    why = (lines[1] if len(lines) > 1 else lines[0]).rstrip(".")
    if not reason.user_stack:
        return why
    frame = reason.user_stack[-1]
    return f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}: {why}"


def graph_breaks(call: Call) -> list[str]:
    """The places where Dynamo leaves the function to Python."""
    torch._dynamo.reset()
    explained = torch._dynamo.explain(call.module_of_function())(*call.tensors())
    return [place_of(reason) for reason in explained.break_reasons if reason.graph_break]


@check(
    "compile.function",
    slow=True,
    imports=("torch._dynamo", "torch._functorch.config"),
    **ONCE,
    subjects=functions,
)
def judge(call: Call) -> Judgement:
    """Compiles the function, compares with eager, and reports where the trace ends."""
    call.eager()
    want, random = seen(call.module_of_function(), call)
    again, _ = seen(call.module_of_function(), call)
    torch._dynamo.reset()
    try:
        got, _ = seen(torch.compile(call.module_of_function(), backend=BACKEND, dynamic=False), call)
        breaks = graph_breaks(call)
    except Exception as error:  # the compiler raises errors of many kinds
        return Judgement(  # no promise is broken: a pass, with what the author should know
            "pass",
            PROMISED,
            f"torch.compile raises: {first_line(error)}",
            "callers who compile their model get this error; torch.compiler.disable the function, or "
            "register it as an operator (`opgate init MODULE --register`)",
        )
    # A function that differs from call to call is judged by run.deterministic and effect.state.
    if not random and not difference(call, again, want) and (found := difference(call, got, want)):
        text, what = found
        return fail(
            PROMISED,
            f"compiled: {text}",
            "the function computes something else while it is traced (torch.compiler.is_compiling()), or "
            "keeps something from call to call that the trace holds fixed",
            differs=what,
        )
    if not breaks:
        return PASS
    more = f"; and at {len(breaks) - 1} further places" if len(breaks) > 1 else ""
    return Judgement(
        "pass",
        TRACED,
        f"the graph breaks at {breaks[0]}{more}",
        "torch.export refuses such a function, and Python runs between the graphs; if that matters, register "
        "it as an operator (`opgate init MODULE --register`)",
    )
