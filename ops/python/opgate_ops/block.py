"""Block: a block of a transformer, of torch's layers and two operators of this library."""

import torch
from torch.nn import functional


class Block(torch.nn.Module):
    """Attention and an MLP, each behind a norm and beside a residual connection.

    Takes x [B, T, width] and returns the same sizes, in the weights' dtype. The norms are
    ``opgate_ops::layer_norm``, and between the layers of the MLP is ``opgate_ops::gelu_tanh``. `width` must
    be a multiple of `heads`.
    """

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.first_norm = torch.nn.LayerNorm(width)
        self.projections = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.second_norm = torch.nn.LayerNorm(width)
        self.wide = torch.nn.Linear(width, 4 * width)
        self.narrow = torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Raises RuntimeError for another width."""
        batch, length, width = x.shape
        projected = self.projections(_normalised(x, self.first_norm))
        q, k, v = projected.view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        hidden = torch.ops.opgate_ops.gelu_tanh.default(self.wide(_normalised(x, self.second_norm)))
        return x + self.narrow(hidden)


def _normalised(x: torch.Tensor, norm: torch.nn.LayerNorm) -> torch.Tensor:
    return torch.ops.opgate_ops.layer_norm.default(x, norm.weight, norm.bias, norm.eps)
