"""Kernels on CUDA, forward and backward, beside plain torch on the CPU."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Function = Callable[..., Any]
# Called without arguments, it makes the tensors: with the same seed for each kernel.
Inputs = Callable[[], list[torch.Tensor]]


@dataclass
class Kernel:
    """A kernel and what it should compute: both take the same tensors, and return one tensor or several."""

    name: str
    inputs: Inputs
    function: Function
    reference: Function
    rtol: float = 1e-4
    atol: float = 1e-5
    ratio: float | None = None
    """In the place of rtol and atol: the root mean square of the error, in that of the reference."""
    around: Callable[[], Any] = contextlib.nullcontext
    """Called without arguments, it makes what is active around the call on CUDA and its backward."""

    def is_near(self, got: torch.Tensor, want: torch.Tensor) -> bool:
        """Within the tolerance."""
        if self.ratio is None:
            return torch.allclose(got, want, rtol=self.rtol, atol=self.atol, equal_nan=True)
        error, size = (got - want).square().mean().sqrt(), want.square().mean().sqrt()
        return bool(error <= self.ratio * size + 1e-6)


def as_tuple(results: Any) -> tuple[torch.Tensor, ...]:
    """The tensors of the results, one by one."""
    if isinstance(results, torch.Tensor):
        return (results,)
    return tuple(result for result in results if isinstance(result, torch.Tensor))


def run(function: Function, tensors: list[torch.Tensor], device: str) -> dict[str, torch.Tensor]:
    """Results and gradients on the device, with cotangents that depend on the shapes alone."""
    arguments = [tensor.detach().clone().to(device) for tensor in tensors]
    for argument in arguments:
        argument.requires_grad_(argument.is_floating_point())
    # A function may overwrite what it gets, but not a leaf.
    results = as_tuple(function(*(argument.clone() for argument in arguments)))
    generator = torch.Generator().manual_seed(1)
    cotangents, roots = [], []
    for result in results:
        if result.requires_grad:
            cotangent = torch.randn(result.shape, generator=generator, dtype=torch.float32)
            cotangents.append(cotangent.to(result.dtype).to(device))
            roots.append(result)
    found = {f"result {at}": result.detach().clone() for at, result in enumerate(results)}
    if roots:
        # A thread of autograd's may still hold objects of Python when the interpreter ends, and aborts.
        with torch.autograd.set_multithreading_enabled(False):
            torch.autograd.backward(roots, cotangents)
    for at, argument in enumerate(arguments):
        if argument.grad is not None:
            found[f"gradient {at}"] = argument.grad
    return {name: tensor.float().cpu() for name, tensor in found.items()}


def farthest(got: torch.Tensor, want: torch.Tensor) -> float:
    """The largest error, in root mean squares of the reference."""
    return ((got - want).abs().max() / want.square().mean().sqrt()).item()


def judge(kernel: Kernel) -> str:
    """How far the two are apart, or how they disagree."""
    torch.manual_seed(0)
    tensors = kernel.inputs()
    with kernel.around():
        got = run(kernel.function, tensors, "cuda")
    want = run(kernel.reference, tensors, "cpu")
    for name, expected in want.items():
        if name not in got:
            return f"WRONG {name}: missing"
        if got[name].shape != expected.shape:
            return f"WRONG {name}: of shape {tuple(got[name].shape)}, not {tuple(expected.shape)}"
        if not kernel.is_near(got[name], expected):
            return f"WRONG {name}: off by {farthest(got[name], expected):.1e} of its root mean square"
    worst = max(farthest(got[name], expected) for name, expected in want.items())
    return f"near, {len(want)} tensors, off by {worst:.1e} of their root mean square at most"


def main(kernels: list[Kernel]) -> None:
    """Runs those whose names are arguments of the program, or all."""
    wanted = sys.argv[1:] or [kernel.name for kernel in kernels]
    for kernel in kernels:
        if kernel.name in wanted:
            try:
                answer = judge(kernel)
            except Exception as error:
                traceback.print_exc()
                answer = f"RAISED {type(error).__name__}: {(str(error) or 'no message').splitlines()[0]}"
            print(f"{kernel.name}: {answer}", flush=True)
