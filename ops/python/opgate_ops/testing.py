"""OperatorTester: compares a function with its reference, forward and backward, on samples as in specs.

    tester = OperatorTester(GeluTanh.apply, lambda x: gelu(x, approximate="tanh"), ulps=64)
    tester.sample(opgate.uniform(4, 8))
    tester.check()

Both get the same inputs and the same cotangents (incoming gradients), the reference in double. Errors are
measured in ulps of the largest value, because nothing is known here about how terms cancel; a spec can give a
better scale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import torch
from opgate import TensorArgument, _engine
from opgate.calls.comparing import difference_at_largest
from opgate.specs.dtypes import dtype_name

Function = Callable[..., torch.Tensor]


class OperatorTester:
    """Collects samples; `check` raises AssertionError for the first one for which the results differ.

    `function` and `reference` take the same arguments and return one tensor. Floating tensors are made in
    each of `dtypes` in turn, and require grad if `backward` is true.
    """

    def __init__(
        self,
        function: Function,
        reference: Function,
        *,
        ulps: float,
        dtypes: Sequence[torch.dtype] = (torch.float32, torch.float64),
        backward: bool = True,
    ) -> None:
        self.function, self.reference = function, reference
        self.ulps, self.dtypes, self.backward = ulps, tuple(dtypes), backward
        self.samples: list[tuple[Any, ...]] = []

    def sample(self, *arguments: Any) -> OperatorTester:
        """Adds a set of arguments: ``opgate.uniform(...)`` and the like for tensors, and plain values."""
        self.samples.append(arguments)
        return self

    def check(self) -> None:
        """Raises AssertionError that names sample, dtype and result; ValueError if there is no sample."""
        if not self.samples:
            raise ValueError("OperatorTester has no samples, so it would check nothing: add .sample(...)")
        for number, sample in enumerate(self.samples):
            for dtype in self.dtypes:
                self._check_sample(f"sample {number} {sample}, {dtype}", sample, dtype)

    def _check_sample(self, place: str, sample: tuple[Any, ...], dtype: torch.dtype) -> None:
        arguments = [self._made(argument, dtype, f"argument {i}") for i, argument in enumerate(sample)]
        wide = [widened(argument) for argument in arguments]
        got, want = self.function(*arguments), self.reference(*wide)
        self._compare(f"{place}: result", got, want)
        if not self.backward:
            return
        mine, theirs = [differentiable(arguments), differentiable(wide)]
        cotangent = make(TensorArgument(tuple(got.shape)), got.dtype, "cotangent")
        grads = torch.autograd.grad(got, mine, cotangent)
        expected = torch.autograd.grad(want, theirs, cotangent.to(want.dtype))
        for i, (grad, wanted) in enumerate(zip(grads, expected, strict=True)):
            self._compare(f"{place}: gradient of tensor {i}", grad, wanted)

    def _made(self, argument: Any, dtype: torch.dtype, stream: str) -> Any:
        if not isinstance(argument, TensorArgument):
            return argument
        tensor = make(argument, dtype, stream)
        return tensor.requires_grad_(self.backward and tensor.is_floating_point())

    def _compare(self, place: str, got: torch.Tensor, want: torch.Tensor) -> None:
        if difference := difference_at_largest(got.detach(), want.detach(), self.ulps):
            raise AssertionError(f"{place}: {difference}")


def make(argument: TensorArgument, dtype: torch.dtype, stream: str) -> torch.Tensor:
    """The values that `argument` describes, the same as in C++; each `stream` gives other values."""
    return _engine.values(json.dumps(argument.as_json()), dtype_name(dtype), stream)


def widened(argument: Any) -> Any:
    """A floating tensor as a new leaf in double; any other argument unchanged."""
    if not isinstance(argument, torch.Tensor) or not argument.is_floating_point():
        return argument
    return argument.detach().double().requires_grad_(argument.requires_grad)


def differentiable(arguments: list[Any]) -> list[torch.Tensor]:
    """The arguments that require grad."""
    return [value for value in arguments if isinstance(value, torch.Tensor) and value.requires_grad]
