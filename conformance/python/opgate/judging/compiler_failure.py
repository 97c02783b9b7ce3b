"""What torch.compile raises: what is said of it, and whether PyTorch's compiler itself has failed."""

from __future__ import annotations

import traceback
from pathlib import Path

import torch

from opgate.calls.call import first_line
from opgate.judging.judgement import Judgement, fail, owed


def judge_failure(error: Exception, promised: str, call: str) -> Judgement:
    """A failure of `call`, such as torch.compile(fullgraph=True), which promises that nothing is raised."""
    if at := own_assertion(error):
        return owed(f"{call} failed at an assertion of PyTorch's own compiler, which says nothing more: {at}")
    # What the backend raised, without what torch wraps it in.
    wrapped = isinstance(error, torch._dynamo.exc.BackendCompilerFailed)
    return fail(promised, f"{call} raised: {first_line(error.inner_exception if wrapped else error)}")


def own_assertion(error: BaseException) -> str | None:
    """Where an assertion without a message failed in Inductor, as "torch/_inductor/scheduler.py:12".

    None for other errors: what a fake kernel or a launcher does wrong is said in words, or raised elsewhere.
    """
    inductor = Path(torch.__file__).parent / "_inductor"
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, AssertionError) and not str(seen):
            frames = traceback.extract_tb(seen.__traceback__)
            file = Path(frames[-1].filename) if frames else Path()
            if file.is_relative_to(inductor):
                return f"{file.relative_to(inductor.parent.parent)}:{frames[-1].lineno}"
        seen = getattr(seen, "inner_exception", None) or seen.__cause__ or seen.__context__
    return None
