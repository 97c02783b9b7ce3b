"""GELU and LayerNorm as ``torch.autograd.Function``, which defines a derivative without an operator.

Both backward passes are made of differentiable operators on what was saved, so that autograd takes second
derivatives from them. The operators of the same names in ``torch.ops.opgate_ops`` are faster: they have
kernels of their own.
"""

from __future__ import annotations

import math
from typing import Any

import torch

SLOPE = 2 * math.sqrt(2 / math.pi)
CUBIC = 0.044715


class GeluTanh(torch.autograd.Function):
    """x s(v), s(v) = 1 / (1 + exp(-v)), v = 2 sqrt(2 / pi) (x + 0.044715 x^3): ``GeluTanh.apply(x)``."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        """GELU by the tanh approximation, of any floating dtype and shape."""
        return x * torch.sigmoid(SLOPE * x * (1 + CUBIC * x * x))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        """Saves x."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        """grad s (1 + x (1 - s) dv/dx), with 1 - s = s(-v), which is exact also if s is close to 1."""
        (x,) = ctx.saved_tensors
        v = SLOPE * x * (1 + CUBIC * x * x)
        return grad * torch.sigmoid(v) * (1 + x * torch.sigmoid(-v) * SLOPE * (1 + 3 * CUBIC * x * x))


class LayerNorm(torch.autograd.Function):
    """(input - mean) / sqrt(var + eps) * weight + bias over the last dimension.

    Call ``LayerNorm.apply(input, weight, bias, eps)``.
    """

    @staticmethod
    def forward(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        """`input` [..., C], `weight` and `bias` [C]. Raises RuntimeError for other sizes."""
        columns = input.shape[-1:]
        torch._check(
            len(columns) == 1 and weight.shape == columns and bias.shape == columns,
            lambda: (
                f"layer_norm: weight and bias must have the sizes of input's last dimension, "
                f"{list(columns)}, got {list(weight.shape)} and {list(bias.shape)}"
            ),
        )
        return _normalised(input, eps)[0] * weight + bias

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        """Saves input and weight; backward computes the statistics again."""
        input, weight, _, ctx.eps = inputs
        ctx.save_for_backward(input, weight)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Gradients of weight and bias are sums over every dimension but the last, however many there are."""
        input, weight = ctx.saved_tensors
        y, rstd = _normalised(input, ctx.eps)
        h = grad * weight
        d_input = rstd * (h - h.mean(-1, keepdim=True) - y * (h * y).mean(-1, keepdim=True))
        rows = tuple(range(input.dim() - 1))
        d_weight, d_bias = grad * y, grad
        return d_input, d_weight.sum(rows) if rows else d_weight, d_bias.sum(rows) if rows else d_bias, None


def _normalised(input: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    centred = input - input.mean(-1, keepdim=True)
    rstd = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
    return centred * rstd, rstd
