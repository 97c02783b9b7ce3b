"""layer_norm with kernels in Triton, ``torch.ops.opgate_py.layer_norm_triton``, under the C++ one's spec.

    out = (input - mean) / sqrt(var + eps) * weight + bias            Ba, Kiros and Hinton 2016, equation 4

over the last dimension, with the biased variance. A program takes some rows, and reads any number of columns
tile by tile, so that Triton compiles each kernel once, and a compiled graph serves all sizes.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch.fx.experimental.symbolic_shapes import guard_or_false
from torch.library import triton_op, wrap_triton
from triton.language.extra import libdevice

TILE = {"ROWS": 4, "COLUMNS": 64, "num_warps": 2}  # what a program holds in registers at a time

# Triton compiles other code for addresses and sizes that 16 divides, which adds in another order, so that the
# bits of a result would depend on where the input lies.
ADDRESSES = ("grad", "x", "weight", "bias", "out", "d_x", "means", "rstds", "d_weight", "d_bias")
SIZES = ("rows", "columns")
one_for_all = functools.partial(triton.jit, do_not_specialize=SIZES, do_not_specialize_on_alignment=ADDRESSES)


@triton.jit
def _rows_of_program(rows, ROWS: tl.constexpr):
    """The numbers of the program's rows, as a column, and which of them exist."""
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    return row, row < rows


@triton.jit
def _columns_at(begin, columns, COLUMNS: tl.constexpr):
    """The numbers of a tile's columns, as a row, and which of them exist."""
    column = begin + tl.arange(0, COLUMNS)[None, :]
    return column, column < columns


@triton.jit
def _mean(total, columns):
    """The mean of each row, for sums of its columns. That of one column is this column, to the last bit."""
    return tl.div_rn(tl.sum(total, 1, keep_dims=True), tl.zeros([], tl.float32) + columns)


@triton.jit
def _statistics(x, exists, columns, eps, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The mean of each row that begins at `x`, and 1 / sqrt(var + eps)."""
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for begin in range(0, columns, COLUMNS):
        column, inside = _columns_at(begin, columns, COLUMNS)
        total += tl.load(x + column, mask=exists & inside, other=0.0)
    mean = _mean(total, columns)
    squares = tl.zeros([ROWS, COLUMNS], tl.float32)
    for begin in range(0, columns, COLUMNS):
        column, inside = _columns_at(begin, columns, COLUMNS)
        centred = tl.load(x + column, mask=exists & inside, other=0.0) - mean
        squares += tl.where(inside, centred * centred, 0.0)
    return mean, tl.rsqrt(_mean(squares, columns) + eps)


@one_for_all
def _normalise(x, weight, bias, out, rows, columns, eps, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, exists = _rows_of_program(rows, ROWS)
    mean, rstd = _statistics(x + row * columns, exists, columns, eps, ROWS, COLUMNS)
    for begin in range(0, columns, COLUMNS):
        column, inside = _columns_at(begin, columns, COLUMNS)
        place = row * columns + column
        y = (tl.load(x + place, mask=exists & inside) - mean) * rstd
        scaled = y * tl.load(weight + column, mask=inside)
        tl.store(out + place, scaled + tl.load(bias + column, mask=inside), mask=exists & inside)


@triton.jit
def _product(a, b):
    """Rounded, because in a row of one column it cancels with its mean, which a fused product would not."""
    return libdevice.mul_rn(a, b)


@one_for_all
def _differentiate_rows(
    grad, x, weight, d_x, means, rstds, rows, columns, eps, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """The gradients of the program's rows of the input, and the statistics of these rows."""
    row, exists = _rows_of_program(rows, ROWS)
    mean, rstd = _statistics(x + row * columns, exists, columns, eps, ROWS, COLUMNS)
    tl.store(means + row, mean, mask=exists)
    tl.store(rstds + row, rstd, mask=exists)
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    along = tl.zeros([ROWS, COLUMNS], tl.float32)
    for begin in range(0, columns, COLUMNS):
        column, inside = _columns_at(begin, columns, COLUMNS)
        place = row * columns + column
        g = tl.load(grad + place, mask=exists & inside, other=0.0)
        h = _product(g, tl.load(weight + column, mask=inside, other=0.0) + tl.zeros_like(g))
        total += h
        along += h * (tl.load(x + place, mask=exists & inside, other=0.0) - mean) * rstd
    h_mean, h_along = _mean(total, columns), _mean(along, columns)
    for begin in range(0, columns, COLUMNS):
        column, inside = _columns_at(begin, columns, COLUMNS)
        place = row * columns + column
        g = tl.load(grad + place, mask=exists & inside, other=0.0)
        h = _product(g, tl.load(weight + column, mask=inside, other=0.0) + tl.zeros_like(g))
        y = (tl.load(x + place, mask=exists & inside, other=0.0) - mean) * rstd
        tl.store(d_x + place, rstd * (h - h_mean - y * h_along), mask=exists & inside)


@one_for_all
def _differentiate_columns(
    grad, x, means, rstds, d_weight, d_bias, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """The gradients of some columns of weight and bias for each program: sums of a fixed order."""
    column, inside = _columns_at(tl.program_id(0) * COLUMNS, columns, COLUMNS)
    weights, biases = tl.zeros([ROWS, COLUMNS], tl.float32), tl.zeros([ROWS, COLUMNS], tl.float32)
    for begin in range(0, rows, ROWS):
        row = (begin + tl.arange(0, ROWS).to(tl.int64))[:, None]
        exists = row < rows
        place = row * columns + column
        g = tl.load(grad + place, mask=exists & inside, other=0.0)
        mean, rstd = (
            tl.load(means + row, mask=exists, other=0.0),
            tl.load(rstds + row, mask=exists, other=0.0),
        )
        weights += g * (tl.load(x + place, mask=exists & inside, other=0.0) - mean) * rstd
        biases += g
    tl.store(d_weight + column, tl.sum(weights, 0, keep_dims=True), mask=inside)
    tl.store(d_bias + column, tl.sum(biases, 0, keep_dims=True), mask=inside)


def _check_like(
    op: str, name: str, x: torch.Tensor, input: torch.Tensor, sizes: torch.Size, which: str
) -> None:
    torch._check(
        x.dtype == input.dtype,
        lambda: f"{op}: {name} must have the dtype of input, {input.dtype}, got {x.dtype}",
    )
    torch._check(
        x.device == input.device,
        lambda: f"{op}: {name} must be on the device of input, {input.device}, got {x.device}",
    )
    torch._check(
        x.dim() == len(sizes), lambda: f"{op}: {name} must have {len(sizes)} dimensions, got {x.dim()}"
    )
    for size, got in zip(sizes, x.shape, strict=True):
        torch._check(
            got == size,
            lambda size=size, got=got: f"{op}: {name} must have size {size}, {which}, got {got}",
        )


def _check(op: str, input: torch.Tensor, weight: torch.Tensor, eps: float) -> None:
    torch._check(input.dtype == torch.float32, lambda: f"{op}: input must be Float, got {input.dtype}")
    torch._check(
        input.device.type in ("cuda", "meta"), lambda: f"{op}: input must be on CUDA, got {input.device}"
    )
    torch._check(
        input.dim() > 0, lambda: f"{op}: input must have a dimension to normalise over, got 0 dimensions"
    )
    _check_like(op, "weight", weight, input, input.shape[-1:], "that of the last dimension of input")
    torch._check(
        math.isfinite(eps) and eps >= 0, lambda: f"{op}: eps must be a number of 0 or more, got {eps}"
    )


def _check_forward(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> None:
    _check("layer_norm_triton", input, weight, eps)
    _check_like(
        "layer_norm_triton", "bias", bias, input, input.shape[-1:], "that of the last dimension of input"
    )


def _check_backward(grad: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, eps: float) -> None:
    _check("layer_norm_triton_backward", input, weight, eps)
    _check_like("layer_norm_triton_backward", "grad", grad, input, input.shape, "that of input")


@triton_op("opgate_py::layer_norm_triton", mutates_args={})
def layer_norm_triton(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """Normalises `input` [..., C] over its last dimension, with `weight` and `bias` [C], on CUDA.

    All are Float, with any strides. The result is contiguous.
    Deterministic, and differentiable to any order. Raises RuntimeError for other dtypes, devices and sizes,
    and for an eps that is negative or not finite.
    """
    _check_forward(input, weight, bias, eps)
    input, weight, bias = input.contiguous(), weight.contiguous(), bias.contiguous()
    out = torch.empty_like(input)
    columns = input.shape[-1]
    if guard_or_false(input.numel() == 0):
        return out
    with torch.cuda.device(input.device):
        rows = input.numel() // columns
        wrap_triton(_normalise)[(triton.cdiv(rows, TILE["ROWS"]),)](
            input, weight, bias, out, rows, columns, eps, **TILE
        )
    return out


@layer_norm_triton.register_fake
def _fake(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    _check_forward(input, weight, bias, eps)
    return input.new_empty(input.shape)


@triton_op("opgate_py::layer_norm_triton_backward", mutates_args={})
def layer_norm_triton_backward(
    grad: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of input, weight and bias, contiguous, for `grad`, the gradient of the result.

    An operator of its own, so that it has a derivative, and is a node of compiled graphs. Raises RuntimeError
    as `layer_norm_triton` does, and for a `grad` of other sizes, dtype or device than those of `input`.
    """
    _check_backward(grad, input, weight, eps)
    grad, input, weight = grad.contiguous(), input.contiguous(), weight.contiguous()
    d_input, d_weight, d_bias = torch.empty_like(input), torch.zeros_like(weight), torch.zeros_like(weight)
    columns = input.shape[-1]
    if guard_or_false(input.numel() == 0):
        return d_input, d_weight, d_bias
    rows = input.numel() // columns
    means, rstds = input.new_empty(rows), input.new_empty(rows)
    with torch.cuda.device(input.device):
        wrap_triton(_differentiate_rows)[(triton.cdiv(rows, TILE["ROWS"]),)](
            grad, input, weight, d_input, means, rstds, rows, columns, eps, **TILE
        )
        wrap_triton(_differentiate_columns)[(triton.cdiv(columns, TILE["COLUMNS"]),)](
            grad, input, means, rstds, d_weight, d_bias, rows, columns, **TILE
        )
    return d_input, d_weight, d_bias


@layer_norm_triton_backward.register_fake
def _fake_backward(
    grad: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_backward(grad, input, weight, eps)
    return input.new_empty(input.shape), weight.new_empty(weight.shape), weight.new_empty(weight.shape)


def _save(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    input, weight, _, ctx.eps = inputs
    ctx.save_for_backward(input, weight)


def _differentiate(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    return *layer_norm_triton_backward(grad, *ctx.saved_tensors, ctx.eps), None


def _save_backward(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    *tensors, ctx.eps = inputs
    ctx.save_for_backward(*tensors)


def _differentiate_twice(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """From the same formula in operators of torch, because second derivatives are rarely needed."""

    def backward(grad: torch.Tensor, input: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
        centred = input - input.mean(-1, keepdim=True)
        rstd = (centred.square().mean(-1, keepdim=True) + ctx.eps).rsqrt()
        y, h = centred * rstd, grad * weight
        d_input = rstd * (h - h.mean(-1, keepdim=True) - y * (h * y).mean(-1, keepdim=True))
        d_weight, d_bias = ((part.reshape(-1, part.shape[-1])).sum(0) for part in (grad * y, grad))
        return d_input, d_weight, d_bias

    _, pull = torch.func.vjp(backward, *ctx.saved_tensors)
    return *pull(cotangents), None


layer_norm_triton.register_autograd(_differentiate, setup_context=_save)
layer_norm_triton_backward.register_autograd(_differentiate_twice, setup_context=_save_backward)
