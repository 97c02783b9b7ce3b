"""An assertion of PyTorch's own compiler accuses no operator; other errors are failures."""

from __future__ import annotations

from pathlib import Path

import torch
from opgate.judging.compiler_failure import judge_failure


def raised_at(file: Path, source: str) -> Exception:
    try:
        exec(compile(source, str(file), "exec"))
    except Exception as error:
        return error
    raise AssertionError("the source raises nothing")


def test_assertion_of_inductor_is_owed() -> None:
    file = Path(torch.__file__).parent / "_inductor" / "pattern_matcher.py"
    inner = raised_at(file, "x = 1\nassert x == 2")
    wrapped = RuntimeError("backend failed")
    wrapped.__cause__ = inner
    for error in (inner, wrapped):
        judgement = judge_failure(error, "it compiles", "torch.compile()")
        assert judgement.verdict == "owed"
        assert judgement.reason.endswith("torch/_inductor/pattern_matcher.py:2")


def test_assertion_elsewhere_or_with_words_is_a_failure() -> None:
    folder = Path(torch.__file__).parent / "_inductor"
    told = (folder / "a.py", "assert 1 == 2, 'wrong size'")
    for file, source in ((Path("mine.py"), "assert 1 == 2"), told):
        judgement = judge_failure(raised_at(file, source), "it compiles", "torch.compile()")
        assert judgement.verdict == "fail"
        assert "torch.compile() raised: AssertionError" in judgement.happened
