"""The spec that the arguments of `opgate.check` stand for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import torch

from opgate import _engine
from opgate.assertion.call_arguments import is_sequence
from opgate.assertion.given_tensors import described, dtypes_of, tensors_of
from opgate.assertion.smaller_samples import smaller
from opgate.calls.call import keyword_names, overload_of, split_keywords
from opgate.specs.accuracy import Accuracy, ulps
from opgate.specs.domains import TensorArgument
from opgate.specs.spec import OpSpec

ITSELF = ulps(16).scaled_by_inputs().of_input_dtype()
SMALLER = ", smaller"
"""The end of the name of a sample that was made of a large one."""


def spec_of(
    name: str,
    samples: Sequence[Sequence[Any]],
    reference: Callable[..., Any] | str | None,
    accuracy: Accuracy | None,
    dtypes: Sequence[torch.dtype],
    promises: Sequence[str],
    where: str,
) -> OpSpec:
    """The spec of the operator `name`, with these samples in schema order.

    Before a large sample is a smaller one, if the operator and the reference take one.
    """
    written = OpSpec(name, where)
    tried = tuple(dtypes) or dtypes_of(samples) or (torch.float32,)
    written.dtypes(*tried, device="cpu")
    if reference is not None or takes(name, None, samples, double=True):
        written.reference(name if reference is None else reference)
        written.accuracy(accuracy or ITSELF)
    else:
        written.draft()
    written.promises(*promises)
    if any(tensor.requires_grad for tensor in tensors_of(samples)):
        written.promises("differentiable")
    for number, sample in enumerate(samples):
        for like_it in smaller(sample):
            if takes(name, None, [like_it]) and (
                reference is None or takes(name, reference, [like_it], double=True)
            ):
                given = (described(value, tried) for value in like_it)
                written.sample(*given, named=f"sample {number}{SMALLER}")
                break
        written.sample(*(described(value, tried) for value in sample), named=f"sample {number}")
    return written


def takes(
    name: str,
    reference: Callable[..., Any] | str | None,
    samples: Sequence[Sequence[Any]],
    *,
    double: bool = False,
) -> bool:
    """Whether the operator, or its reference if one is given, returns something for each sample."""

    def made(value: Any) -> Any:
        if is_sequence(value):
            return [made(part) for part in value]
        if isinstance(value, TensorArgument):
            dtype = "float64" if double else "float32"
            return _engine.values(json.dumps(value.as_json()), dtype, f"{name} {value.shape}")
        if not isinstance(value, torch.Tensor):
            return value
        copy = value.detach().cpu().clone()
        return copy.double() if double and copy.is_floating_point() else copy

    called = overload_of(name)
    keyword_only = keyword_names(called)
    if reference is not None:
        called = overload_of(reference) if isinstance(reference, str) else reference
    for sample in samples:
        positional, keywords = split_keywords([made(value) for value in sample], keyword_only)
        try:
            with torch.no_grad():
                called(*positional, **keywords)
        except Exception:  # an operator may refuse arguments with any exception
            return False
    return True
