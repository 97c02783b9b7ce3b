"""The spec that the arguments of `opgate.check` stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from opgate.accuracy import Accuracy, ulps
from opgate.call import keyword_names, overload_of, split_keywords
from opgate.call_arguments import is_sequence
from opgate.domains import TensorArgument
from opgate.given_tensors import described, dtypes_of, parts_of, tensors_of
from opgate.spec import OpSpec

ITSELF = ulps(16).scaled_by_inputs().of_input_dtype()


def spec_of(
    name: str,
    samples: Sequence[Sequence[Any]],
    reference: Callable[..., Any] | str | None,
    accuracy: Accuracy | None,
    dtypes: Sequence[torch.dtype],
    promises: Sequence[str],
    where: str,
) -> OpSpec:
    """The spec of the operator `name`, with these samples in schema order."""
    written = OpSpec(name, where)
    tried = tuple(dtypes) or dtypes_of(samples) or (torch.float32,)
    written.dtypes(*tried, device="cpu")
    if reference is not None or takes_double(name, samples):
        written.reference(name if reference is None else reference)
        written.accuracy(accuracy or ITSELF)
    else:
        written.draft()
    written.promises(*promises)
    if any(tensor.requires_grad for tensor in tensors_of(samples)):
        written.promises("differentiable")
    for number, sample in enumerate(samples):
        written.sample(*(described(value, tried) for value in sample), named=f"sample {number}")
    return written


def takes_double(name: str, samples: Sequence[Sequence[Any]]) -> bool:
    """Whether the operator can be its own reference: it returns something for each sample in double."""

    def widened(value: Any) -> Any:
        if is_sequence(value):
            return [widened(part) for part in value]
        if not isinstance(value, torch.Tensor):
            return value
        copy = value.detach().cpu().clone()
        return copy.double() if copy.is_floating_point() else copy

    overload = overload_of(name)
    for sample in samples:
        if any(isinstance(part, TensorArgument) for value in sample for part in parts_of(value)):
            continue  # the engine makes its values later
        positional, keywords = split_keywords([widened(value) for value in sample], keyword_names(overload))
        try:
            with torch.no_grad():
                overload(*positional, **keywords)
        except Exception:  # an operator may refuse double with any exception
            return False
    return True
