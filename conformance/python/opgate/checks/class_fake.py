"""class.fake: the fake of a TorchBind class answers as the class does, over random sequences of calls."""

from __future__ import annotations

from typing import Any

import torch
from torch._library.fake_class_registry import find_fake_class, maybe_to_fake_obj
from torch._subclasses.fake_tensor import FakeTensorMode

from opgate import _engine
from opgate.calls.call import Call, first_line
from opgate.judging.judgement import PASS, Judgement, fail, first_failure
from opgate.judging.registry import check

PROMISED = "the fake class answers every method as the class itself does, except for the values of tensors"
SEQUENCES = 4


def metadata(answer: Any) -> Any:
    """What a tracer relies on: dtype, sizes, strides and device of a tensor, and any other value itself."""
    if not isinstance(answer, torch.Tensor):
        return answer
    strides = [stride for size, stride in zip(answer.shape, answer.stride(), strict=True) if size > 1]
    return f"{answer.dtype} of sizes {list(answer.shape)} and strides {strides} on {answer.device}"


def told(method: str, arguments: list[Any]) -> str:
    """A call as a reader writes it: "push(2x3, 4)"."""
    texts = ("x".join(map(str, a.shape)) if isinstance(a, torch.Tensor) else repr(a) for a in arguments)
    return f"{method}({', '.join(texts)})"


def judge_sequence(real: torch.ScriptObject, calls: list[tuple[str, list[Any]]]) -> Judgement:
    """Makes the calls on the real object and on its fake, and compares each answer."""
    mode = FakeTensorMode()
    try:
        fake = maybe_to_fake_obj(mode, real).wrapped_obj
    except Exception as error:  # __obj_flatten__ and __obj_unflatten__ are the user's
        return fail(PROMISED, f"no fake could be made of a new object: {first_line(error)}")
    before: list[str] = []
    for method, arguments in calls:
        text = told(method, arguments)
        faked = [mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in arguments]
        try:
            wanted = getattr(real, method)(*arguments)
        except Exception:  # no correct program makes a call that the class refuses
            continue
        try:
            with mode:
                answer = getattr(fake, method)(*faked)
        except Exception as error:  # a fake class raises what it likes
            return fail(PROMISED, f"{text} raises in the fake: {first_line(error)}", detail=history(before))
        got, want = (torch.utils._pytree.tree_map(metadata, value) for value in (answer, wanted))
        if got != want:
            return fail(PROMISED, f"{text} gives {got} in the fake, {want} really", detail=history(before))
        before.append(text)
    return PASS


def history(calls: list[str]) -> list[str]:
    """The last 6 of the calls that came before."""
    return [f"after   {', '.join(calls[-6:])}" if calls else "after   nothing: it is the first call"]


def has_fake(name: str) -> bool:
    """Whether a fake is registered for the class "ns::Class"."""
    namespace, _, name = name.partition("::")
    return find_fake_class(f"__torch__.torch.classes.{namespace}.{name}") is not None


def classes() -> list[str]:
    """The names of the classes that are meant for export or have a fake."""
    return [name for name, exported in _engine.classes().items() if exported or has_fake(name)]


@check(
    "class.fake",
    variants="contiguous",
    dtypes="first",
    ops=False,
    classes=True,
    subjects=classes,
)
def judge(call: Call) -> Judgement:
    """Runs a real object and its fake through the call sequences that the engine makes."""
    if not has_fake(call.subject):
        return fail(PROMISED, "no fake class is registered", "the module that registers it is not imported")
    namespace, name = call.subject.split("::")
    real = getattr(getattr(torch.classes, namespace), name)
    sequences = _engine.class_sequences(call.id, SEQUENCES)
    return first_failure(judge_sequence(real(*each["construct"]), each["calls"]) for each in sequences)
