"""fla-core 0.6.0 beside plain torch: small sizes, and errors within the ratio that its own tests allow.

python flash_linear_attention.py [NAME...]
"""

from __future__ import annotations

import functools
from typing import Any

import fla.ops as fla
import torch
import torch.nn.functional as F
from beside_cpu import Kernel, main
from fla.modules.l2norm import l2norm
from fla.modules.layernorm import layer_norm, rms_norm
from fla.modules.rotary import rotary_embedding
from fla.ops.utils import chunk_global_cumsum, chunk_local_cumsum, mean_pooling, softmax_fwd, solve_tril

RATIO = 5e-3
T, H, D = 70, 2, 32


def heads(count: int = 1, size: int = D) -> list[torch.Tensor]:
    """Of 1 sequence of T tokens."""
    return [torch.randn(1, T, H, size) for _ in range(count)]


def gates(*size: int) -> torch.Tensor:
    """Logarithms of decays."""
    return F.logsigmoid(torch.randn(1, T, H, *size))


def recurrent(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    decay: torch.Tensor | None = None,
    beta: torch.Tensor | None = None,
    scale: float = D**-0.5,
) -> torch.Tensor:
    """Token by token. `decay`: logarithms, for each head or each key. With `beta`, by the delta rule."""
    state = torch.zeros(1, H, q.shape[-1], v.shape[-1])
    out = []
    for t in range(T):
        if decay is not None:
            at = decay[:, t] if decay.dim() > 1 else decay[None]
            state = state * at.exp().reshape(1, H, -1, 1)
        value = v[:, t]
        if beta is not None:
            value = beta[:, t, :, None] * (value - torch.einsum("bhk,bhkv->bhv", k[:, t], state))
        state = state + k[:, t, :, :, None] * value[:, :, None]
        out.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
    return torch.stack(out, 1)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, decay: torch.Tensor | None = None
) -> torch.Tensor:
    """Causal softmax, with sums of logarithms of decays."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    scores = q @ k.mT * D**-0.5
    if decay is not None:
        total = decay.transpose(1, 2).cumsum(-1)
        scores = scores + total[..., :, None] - total[..., None, :]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return (scores.masked_fill(later, -torch.inf).softmax(-1) @ v).transpose(1, 2)


def based(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The series of exp, to the second order."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    weights = (1 + scores + scores.square() / 2).tril()
    return (weights @ v / (weights.sum(-1, keepdim=True) + 1e-6)).transpose(1, 2)


def hgrn(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """Token by token."""
    state, out = torch.zeros(1, D), []
    for t in range(T):
        state = g[:, t].exp() * state + x[:, t]
        out.append(state)
    return torch.stack(out, 1)


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Halves of each head."""
    a, b = x.chunk(2, -1)
    c, s = cos[None, :, None].detach(), sin[None, :, None].detach()
    return torch.cat([a * c - b * s, a * s + b * c], -1)


def in_chunks(g: torch.Tensor) -> torch.Tensor:
    """Sums that begin anew every 32 tokens."""
    return torch.cat([part.cumsum(1) for part in g.split(32, 1)], 1)


def inverse_of_lower(a: torch.Tensor) -> torch.Tensor:
    """The inverse of I + A, for blocks of 32 rows."""
    blocks = a.transpose(1, 2).reshape(1, H, -1, 32, 32)
    return torch.linalg.inv(torch.eye(32) + blocks.tril(-1)).reshape(1, H, -1, 32).transpose(1, 2)


def lower_blocks() -> torch.Tensor:
    """64 rows, in blocks of 32."""
    blocks = torch.randn(1, H, 2, 32, 32).tril(-1) / 8
    return blocks.reshape(1, H, 64, 32).transpose(1, 2).contiguous()


GAMMAS = (1 - 2.0 ** (-5 - torch.arange(H))).log()


def unit(x: torch.Tensor) -> torch.Tensor:
    """Keys of length 1, as the delta rule wants them."""
    return F.normalize(x, dim=-1)


def of_linear(function: Any) -> Kernel:
    """Linear attention without decay."""
    return Kernel(
        function.__name__,
        lambda: heads(3),
        lambda q, k, v: function(q, k, v, normalize=False)[0],
        recurrent,
        ratio=RATIO,
    )


def of_retention(function: Any) -> Kernel:
    """A fixed decay for each head."""
    return Kernel(
        function.__name__,
        lambda: heads(3),
        lambda q, k, v: function(q, k, v)[0],
        lambda q, k, v: recurrent(q, k, v, GAMMAS),
        ratio=RATIO,
    )


def of_decay(function: Any, *size: int) -> Kernel:
    """A decay for each head, or each key."""
    return Kernel(
        function.__name__,
        lambda: [*heads(3), gates(*size)],
        lambda q, k, v, g: function(q, k, v, g)[0],
        recurrent,
        ratio=RATIO,
    )


def of_delta(function: Any, dtype: torch.dtype = torch.float32, ratio: float = RATIO) -> Kernel:
    """The delta rule, in the types that the function takes."""
    return Kernel(
        function.__name__,
        lambda: [*heads(3), torch.rand(1, T, H)],
        lambda q, k, v, beta: function(*(x.to(dtype) for x in (q, unit(k), v, beta)))[0],
        lambda q, k, v, beta: recurrent(q, unit(k), v, None, beta),
        ratio=ratio,
    )


def of_gated_delta(function: Any, *size: int, reference: Any = recurrent) -> Kernel:
    """The delta rule with a decay."""
    return Kernel(
        function.__name__,
        lambda: [*heads(3), gates(*size), torch.rand(1, T, H)],
        lambda q, k, v, g, beta: function(q, unit(k), v, g=g, beta=beta)[0],
        lambda q, k, v, g, beta: reference(q, unit(k), v, g, beta),
        ratio=RATIO,
    )


def forward_alone(function: Any) -> Any:
    """For a function that says that it has no backward."""

    @functools.wraps(function)
    def run(*arguments: torch.Tensor, **named: torch.Tensor) -> Any:
        with torch.no_grad():
            return function(*arguments, **named)

    return run


KERNELS = [
    *(of_linear(function) for function in (fla.chunk_linear_attn, fla.fused_chunk_linear_attn)),
    of_linear(fla.fused_recurrent_linear_attn),
    *(of_retention(function) for function in (fla.chunk_retention, fla.parallel_retention)),
    *(of_retention(function) for function in (fla.fused_chunk_retention, fla.fused_recurrent_retention)),
    *(of_decay(function, D) for function in (fla.chunk_gla, fla.fused_recurrent_gla)),
    *(of_decay(function) for function in (fla.chunk_simple_gla, fla.parallel_simple_gla)),
    of_decay(fla.fused_recurrent_simple_gla),
    of_delta(fla.chunk_delta_rule, torch.float16, 8e-3),
    of_delta(fla.fused_recurrent_delta_rule),
    of_gated_delta(fla.chunk_gated_delta_rule),
    of_gated_delta(forward_alone(fla.fused_recurrent_gated_delta_rule), reference=forward_alone(recurrent)),
    of_gated_delta(fla.chunk_kda, D),
    Kernel("parallel_attn", lambda: heads(3), fla.parallel_attn, attention, ratio=RATIO),
    Kernel(
        "parallel_forgetting_attn",
        lambda: [*heads(3), gates()],
        fla.parallel_forgetting_attn,
        attention,
        ratio=RATIO,
    ),
    *(
        Kernel(
            function.__name__,
            lambda: [*heads(2, 16), *heads(1)],
            function,
            based,
            ratio=RATIO,
        )
        for function in (fla.parallel_based, fla.fused_chunk_based)
    ),
    Kernel(
        "fused_recurrent_hgrn",
        lambda: [torch.randn(1, T, D), F.logsigmoid(torch.randn(1, T, D))],
        lambda x, g: fla.fused_recurrent_hgrn(x, g)[0],
        hgrn,
        ratio=RATIO,
    ),
    Kernel(
        "l2norm", lambda: heads(1, 40), l2norm, lambda x: x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt()
    ),
    Kernel(
        "layer_norm",
        lambda: [torch.randn(T, 40), torch.randn(40), torch.randn(40)],
        lambda x, w, b: layer_norm(x, w, b, eps=1e-5),
        lambda x, w, b: F.layer_norm(x, (40,), w, b),
    ),
    Kernel(
        "rms_norm",
        lambda: [torch.randn(T, 40), torch.randn(40)],
        lambda x, w: rms_norm(x, w, None, eps=1e-5),
        lambda x, w: F.rms_norm(x, (40,), w, 1e-5),
    ),
    Kernel(
        "rotary_embedding",
        lambda: [*heads(1), torch.randn(T, D // 2), torch.randn(T, D // 2)],
        lambda x, cos, sin: rotary_embedding(x, cos.detach(), sin.detach()),
        rotated,
    ),
    Kernel(
        "mean_pooling",
        lambda: heads(1),
        lambda x: mean_pooling(x, 32),
        lambda x: torch.stack([part.mean(1) for part in x.split(32, 1)], 1),
    ),
    Kernel(
        "chunk_local_cumsum",
        lambda: [gates()],
        lambda g: chunk_local_cumsum(g.detach(), 32),
        lambda g: in_chunks(g.detach()),
    ),
    Kernel(
        "chunk_global_cumsum",
        lambda: [gates(D)],
        lambda g: chunk_global_cumsum(g.detach()),
        lambda g: g.detach().cumsum(1),
    ),
    Kernel(
        "softmax", lambda: heads(1, 40), lambda x: softmax_fwd(x.detach()), lambda x: x.detach().softmax(-1)
    ),
    Kernel(
        "solve_tril",
        lambda: [lower_blocks()],
        lambda a: solve_tril(a.detach()),
        lambda a: inverse_of_lower(a.detach()),
        ratio=RATIO,
    ),
]

if __name__ == "__main__":
    main(KERNELS)
