"""Traces a call with symbolic sizes: what the fake kernel returns in terms of them.

Imports torch._dynamo and sympy, which take as long to import as torch.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import sympy
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from opgate.calls.call import Call, flat_tensors

BACKED = "symbolic sizes"
UNBACKED = "sizes that are known only at run time (unbacked)"
KINDS = {BACKED: DimDynamic.DYNAMIC, UNBACKED: DimDynamic.UNBACKED}


@dataclass(frozen=True)
class Trace:
    """What the fake kernel returns for inputs of symbolic sizes."""

    environment: ShapeEnv
    symbols: list[list[sympy.Expr]]
    """The symbol of each dim of each input, before the kernel required some of them to be equal."""
    inputs: list[FakeTensor]
    outputs: list[FakeTensor]

    def assigned(self, tensors: list[torch.Tensor]) -> dict[sympy.Symbol, sympy.Integer]:
        """The values of the symbols where the inputs are `tensors`."""
        return {
            symbol: sympy.Integer(size)
            for symbols, tensor in zip(self.symbols, tensors, strict=True)
            for symbol, size in zip(symbols, tensor.shape, strict=True)
            if symbol.is_symbol
        }

    def serves(self, values: dict[sympy.Symbol, sympy.Integer]) -> bool:
        """Whether these values satisfy all guards and runtime assertions of the trace."""
        demanded = [guard.expr for guard in self.environment.guards]
        for asserts in self.environment.deferred_runtime_asserts.values():
            demanded += [demand.expr for demand in asserts]
        return all(bool(demand.xreplace(values)) for demand in demanded if demand.free_symbols <= set(values))

    def fixed_dims(self, size: int, tensors: list[torch.Tensor]) -> list[tuple[int, int]]:
        """Input and dim of each size `size` whose symbol the kernel has specialized to a number."""
        return [
            (number, dim)
            for number, (fake, tensor) in enumerate(zip(self.inputs, tensors, strict=True))
            for dim, known in enumerate(fake.shape)
            if tensor.shape[dim] == size and expression(known).is_number
        ]

    def told_apart(
        self, fake: FakeTensor, result: torch.Tensor, values: dict[sympy.Symbol, sympy.Integer]
    ) -> tuple[str, str]:
        """The predicted and the real metadata of an output, without the parts that depend on values."""
        foretold = [[value_of(size, values) for size in part] for part in (fake.shape, fake.stride())]
        found = [
            [None if known is None else real for known, real in zip(*pair, strict=True)]
            for pair in zip(foretold, (result.shape, result.stride()), strict=True)
        ]
        return metadata(*foretold), metadata(*found)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Disables logging, because torch logs a stack for each fake kernel that raises."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def trace(call: Call, tensors: list[torch.Tensor], kind: DimDynamic) -> Trace:
    """Traces the call on fake tensors. Raises whatever the fake kernel raises."""
    environment = ShapeEnv(duck_shape=False, specialize_zero_one=False)
    mode = FakeTensorMode(shape_env=environment)
    inputs = [
        mode.from_tensor(
            tensor,
            symbolic_context=StatelessSymbolicContext(dynamic_sizes=[kind] * tensor.dim()),
            source=ConstantSource(f"input{number}"),
        )
        for number, tensor in enumerate(tensors)
    ]
    symbols = [[expression(size) for size in fake.shape] for fake in inputs]
    module = call.module()
    # ATen's functions that a fake kernel calls are traced by their decompositions in Python, as torch.export
    # and torch.compile do: their kernels in C++ take no symbolic sizes.
    with silence(), mode, enable_python_dispatcher():
        outputs = flat_tensors(module(*inputs))
    return Trace(environment, symbols, inputs, outputs)


def expression(size: int | torch.SymInt) -> sympy.Expr:
    """A size as an expression, with all that the trace now knows of it."""
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)


def metadata(sizes_: list[int | None], strides: list[int | None]) -> str:
    """Sizes and strides as text: "any" for strides without a meaning, "?" for what depends on values."""
    told = [stride if size != 1 else "any" for size, stride in zip(sizes_, strides, strict=True)]
    text = f"sizes {sizes_}" + ("" if 0 in sizes_ else f", strides {told}")
    return text.replace("None", "?")


def value_of(size: int | torch.SymInt, values: dict[sympy.Symbol, sympy.Integer]) -> int | None:
    """A size of the result for these input sizes; None if it depends on values."""
    found = expression(size).xreplace(values)
    return None if found.free_symbols else int(found)
