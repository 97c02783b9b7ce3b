"""run.subclass: a tensor subclass that wraps the arguments gets the call, and gives what eager gives."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map_only

from opgate.calls.call import Call, first_line, flat_tensors
from opgate.judging.judgement import PASS, Judgement, fail
from opgate.judging.registry import ONCE, check

PROMISED = "a tensor subclass that wraps the arguments gets the call, and returns what eager returns"
LIKELY = (
    "the kernel for Autograd computes by itself, and reads the memory of the wrapper, which has none: call "
    "the operator below Autograd (at::AutoDispatchBelowADInplaceOrView, torch.library.register_autograd)"
)


class Wrapped(torch.Tensor):
    """A tensor without memory around one that has some, as DTensor and tensors of quantized weights are."""

    inner: torch.Tensor
    calls = 0
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapped:
        """A wrapper that looks like `inner`."""
        wrapped = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=inner.device,
        )
        wrapped.inner = inner
        return wrapped

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Makes the call with what is wrapped, and wraps its results."""
        Wrapped.calls += 1
        plain = tree_map_only(Wrapped, lambda wrapped: wrapped.inner, (args, kwargs or {}))
        results = tree_map_only(torch.Tensor, Wrapped, func(*plain[0], **plain[1]))
        return return_and_correct_aliasing(func, args, kwargs or {}, results)


@check("run.subclass", registered=True, **ONCE)
def judge(call: Call) -> Judgement:
    """Calls the operator with wrapped tensors, and compares what is in the results with eager's."""
    torch.manual_seed(0)
    eager = call.eager()
    wrapped = [Wrapped(tensor) for tensor in call.tensors()]
    if not wrapped:
        return PASS
    Wrapped.calls = 0
    torch.manual_seed(0)
    try:
        with torch.no_grad():
            results = flat_tensors(call.module()(*wrapped))
    except Exception as error:  # an operator in Python refuses by whatever it raises
        return fail(PROMISED, f"with wrapped tensors, the call raised: {first_line(error)}", LIKELY)
    if Wrapped.calls == 0:
        return fail(PROMISED, "the kernel ran on the wrappers, and the subclass was not called", LIKELY)
    plain = [result.inner if isinstance(result, Wrapped) else result for result in results]
    if len(plain) != len(eager):
        return fail(PROMISED, f"{len(plain)} tensors returned, not {len(eager)}")
    for result, expected in zip(plain, eager, strict=True):
        if difference := call.difference_of_calls(result, expected):
            return fail(PROMISED, difference, LIKELY, differs="values")
    return PASS
