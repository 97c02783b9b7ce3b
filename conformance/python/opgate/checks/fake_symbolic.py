"""fake.symbolic: with symbolic sizes the fake kernel answers in their terms, and rightly for other sizes."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import sympy
import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from opgate.call import Call, first_line, flat_tensors
from opgate.judgement import PASS, Judgement, fail
from opgate.registry import check
from opgate.resize import other_inputs, shapes

PROMISED = "with symbolic sizes, the fake kernel's results are right for every size"
BACKED = "symbolic sizes"
UNBACKED = "sizes that are known only at run time (unbacked)"
KINDS = {BACKED: DimDynamic.DYNAMIC, UNBACKED: DimDynamic.UNBACKED}


@dataclass(frozen=True)
class Trace:
    """The fake kernel's answer to inputs of symbolic sizes."""

    environment: ShapeEnv
    symbols: list[list[sympy.Expr]]
    """Of each input, each dim; before the kernel found that some of them must be equal."""
    inputs: list[FakeTensor]
    outputs: list[FakeTensor]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """torch logs a stack for each fake kernel that raises; the finding says it."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def trace(call: Call, tensors: list[torch.Tensor], kind: DimDynamic) -> Trace:
    """Runs the call without data. Raises whatever the fake kernel raises."""
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
    with silence(), mode:
        outputs = flat_tensors(module(*inputs))
    return Trace(environment, symbols, inputs, outputs)


def expression(size: int | torch.SymInt) -> sympy.Expr:
    """A size as what is known of it now."""
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)


def assigned(traced: Trace, tensors: list[torch.Tensor]) -> dict[sympy.Symbol, sympy.Integer]:
    """What the symbols stand for where the inputs are `tensors`."""
    return {
        symbol: sympy.Integer(size)
        for symbols, tensor in zip(traced.symbols, tensors, strict=True)
        for symbol, size in zip(symbols, tensor.shape, strict=True)
        if symbol.is_symbol
    }


def serves(traced: Trace, values: dict[sympy.Symbol, sympy.Integer]) -> bool:
    """Whether all that the kernel demanded of the sizes holds for these."""
    demanded = [guard.expr for guard in traced.environment.guards]
    for asserts in traced.environment.deferred_runtime_asserts.values():
        demanded += [demand.expr for demand in asserts]
    return all(bool(demand.xreplace(values)) for demand in demanded if demand.free_symbols <= set(values))


def fixed_dims(traced: Trace, size: int, tensors: list[torch.Tensor]) -> list[tuple[int, int]]:
    """Input and dim of each symbol for `size` that has become a number."""
    return [
        (number, dim)
        for number, (fake, tensor) in enumerate(zip(traced.inputs, tensors, strict=True))
        for dim, known in enumerate(fake.shape)
        if tensor.shape[dim] == size and expression(known).is_number
    ]


def metadata(sizes_: list[int | None], strides: list[int | None]) -> str:
    """Sizes, and strides where they mean something; "?" for what only the values know."""
    told = [stride if size != 1 else "any" for size, stride in zip(sizes_, strides, strict=True)]
    text = f"sizes {sizes_}" + ("" if 0 in sizes_ else f", strides {told}")
    return text.replace("None", "?")


def value_of(size: int | torch.SymInt, values: dict[sympy.Symbol, sympy.Integer]) -> int | None:
    """A size of the result for these sizes of the inputs; None where it depends on values."""
    found = expression(size).xreplace(values)
    return None if found.free_symbols else int(found)


def told_apart(
    fake: FakeTensor, result: torch.Tensor, values: dict[sympy.Symbol, sympy.Integer]
) -> tuple[str, str]:
    """What the trace foretells of an output and what it is, without what depends on values."""
    foretold = [[value_of(size, values) for size in part] for part in (fake.shape, fake.stride())]
    found = [
        [None if known is None else real for known, real in zip(*pair, strict=True)]
        for pair in zip(foretold, (result.shape, result.stride()), strict=True)
    ]
    return metadata(*foretold), metadata(*found)


def judge_resized(
    call: Call, traced: Trace, tensors: list[torch.Tensor], size: int, other: list[torch.Tensor]
) -> Judgement:
    """Compares the trace's answer for `other`, with another size, with what the operator really returns."""
    try:
        with torch.no_grad():
            real = flat_tensors(call.module()(*(tensor.clone() for tensor in other)))
    except RuntimeError:
        return PASS  # the operator takes only this size: the trace may, too
    if fixed := fixed_dims(traced, size, tensors):
        number, dim = fixed[0]
        return fail(
            PROMISED,
            f"the fake kernel fixes dim {dim} of input {number} to {size}; "
            f"the operator itself takes {size + 1}, too",
            "the fake kernel reads a size as a number: in C++ .sizes() and .size() instead of .sym_sizes(), "
            "or a function that does (permute, view); in Python int(x.shape[0]), or a branch on it",
        )
    values = assigned(traced, other)
    if not serves(traced, values):
        return PASS
    for number, (fake, result) in enumerate(zip(traced.outputs, real, strict=False)):
        if fake.dim() != result.dim():
            return fail(PROMISED, f"output {number} has {fake.dim()} dims; really {result.dim()}")
        predicted, found = told_apart(fake, result, values)
        if predicted != found:
            return fail(
                PROMISED,
                f"output {number}, traced with inputs of {shapes(tensors)} and asked for {shapes(other)}: "
                f"{predicted}; really {found}",
                "sizes or strides are computed from the example's numbers",
            )
    return PASS


@check(
    "fake.symbolic",
    promise="With symbolic sizes, backed and unbacked, the fake kernel keeps them symbolic, and what it says "
    "is right for other sizes.",
    why="torch.compile(dynamic=True) and torch.export trace once for all sizes. A fake kernel that reads a "
    "size as a number does not fail: it fixes the program to the sizes of its example, and the program is "
    "compiled again for each new size, or is wrong for it.",
    fix="In a C++ meta kernel take sym_sizes(), sym_size(), sym_numel() and at::empty_symint; compare with "
    "TORCH_SYM_CHECK. In Python pass shapes on as they are, and demand with torch._check.",
    example="FBGEMM 5910, pytorch 156622: meta kernels that specialise.",
    wrong="""
        at::Tensor flattened_meta(const at::Tensor& x) {
          return at::empty({x.numel()}, x.options());  // the example's number
        }
    """,
    right="""
        at::Tensor flattened_meta(const at::Tensor& x) {
          return at::empty_symint({x.sym_numel()}, x.options());
        }
    """,
    variants="contiguous",
)
def judge(call: Call) -> Judgement:
    """Traces the call with symbols for all sizes, and looks at what became of them."""
    tensors = call.tensors()
    for told, kind in KINDS.items():
        try:
            traced = trace(call, tensors, kind)
        except Exception as error:  # a fake kernel raises what it likes
            return fail(
                PROMISED,
                f"with {told} the fake kernel raised: {first_line(error)}",
                "it asks for the value of a size, or of an element"
                if "Guard" in type(error).__name__ or "DataDependent" in type(error).__name__
                else "",
            )
        for size, other in other_inputs(call, tensors):
            judgement = judge_resized(call, traced, tensors, size, other)
            if judgement != PASS:
                return judgement
    return PASS
