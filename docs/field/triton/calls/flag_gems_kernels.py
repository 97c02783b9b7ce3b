"""flag-gems 5.0.2 beside plain torch. Its functions are called directly, or instead of ATen's.

python flag_gems_kernels.py [NAME...]
"""

from __future__ import annotations

import functools
from typing import Any

import flag_gems
import torch
import torch.nn.functional as F
from beside_cpu import Function, Inputs, Kernel, main
from flag_gems.utils.codegen_config_utils import CODEGEN_COFIGS

# Triton 3.9 has no block pointers any more, which are the default here.
for codegen in CODEGEN_COFIGS.values():
    if hasattr(codegen, "prefer_block_pointer"):
        object.__setattr__(codegen, "prefer_block_pointer", False)

randn = torch.randn


def aten(name: str, inputs: Inputs, function: Function, *include: str, **tolerances: Any) -> Kernel:
    """The same call of torch on both devices, with flag-gems instead of ATen on CUDA."""
    called = []
    for op in include:
        called.extend(flag_gems.FULL_CONFIG_BY_FUNC.get(op, []))
    if len({entry[1].__name__ for entry in called}) != len(include):
        print("NOT FOUND in the configuration:", name, include, [entry[0] for entry in called])
    return Kernel(
        name,
        inputs,
        function,
        function,
        around=lambda: flag_gems.use_gems(include=list(include)),
        **tolerances,
    )


def index(rows: int, *shape: int) -> torch.Tensor:
    """Random numbers of rows."""
    return torch.randint(0, rows, shape)


def distinct(rows: int, columns: int) -> torch.Tensor:
    """A matrix in which no value occurs twice, so that an order is unique."""
    return torch.randperm(rows * columns).reshape(rows, columns).float() / 64


def sdpa_reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Attention of the softmax."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def rotary(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Halves of each head."""
    half = q.shape[-1] // 2
    c, s = (torch.cat([t, t], -1)[:, None] for t in (cos, sin))

    def turn(t: torch.Tensor) -> torch.Tensor:
        return torch.cat([-t[..., half:], t[..., :half]], -1)

    return q * c + turn(q) * s, k * c + turn(k) * s


def skip_ln(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The norm of the sum of both."""
    return F.layer_norm(x + r, (41,), w, b)


def fused_add(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The norm of the sum of both, and the sum."""
    s = x + r
    return F.rms_norm(s, (41,), w, 1e-5), s


def moe_reference(
    x: torch.Tensor, w1: torch.Tensor, w2: torch.Tensor, weights: torch.Tensor, ids: torch.Tensor
) -> torch.Tensor:
    """The weighted sum of what the experts of each token compute."""
    out = torch.zeros_like(x)
    for t in range(x.shape[0]):
        for j in range(ids.shape[1]):
            e = ids[t, j]
            a, b = (x[t] @ w1[e].T).chunk(2)
            out[t] += weights[t, j] * ((F.silu(a) * b) @ w2[e].T)
    return out


MM = {"rtol": 1e-2, "atol": 2e-2}
KERNELS = [
    aten("softmax", lambda: [randn(41, 97)], lambda x: x.softmax(-1), "softmax", "softmax_backward"),
    aten("softmax_dim0", lambda: [randn(41, 97)], lambda x: x.softmax(0), "softmax", "softmax_backward"),
    aten(
        "softmax_transposed",
        lambda: [randn(41, 97).t()],
        lambda x: x.softmax(-1),
        "softmax",
        "softmax_backward",
    ),
    aten(
        "log_softmax",
        lambda: [randn(41, 97)],
        lambda x: x.log_softmax(-1),
        "log_softmax",
        "log_softmax_backward",
    ),
    aten(
        "layer_norm",
        lambda: [randn(41, 97), randn(97), randn(97)],
        lambda x, w, b: F.layer_norm(x, (97,), w, b),
        "layer_norm",
        "layer_norm_backward",
    ),
    aten(
        "layer_norm_sliced",
        lambda: [randn(41, 194), randn(97), randn(97)],
        lambda x, w, b: F.layer_norm(x[:, ::2], (97,), w, b),
        "layer_norm",
        "layer_norm_backward",
    ),
    aten(
        "group_norm",
        lambda: [randn(3, 6, 7, 5), randn(6), randn(6)],
        lambda x, w, b: F.group_norm(x, 3, w, b),
        "group_norm",
        "group_norm_backward",
    ),
    aten(
        "batch_norm",
        lambda: [randn(5, 7, 11), randn(7), randn(7)],
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        "batch_norm",
        "batch_norm_backward",
    ),
    Kernel(
        "rms_norm",
        lambda: [randn(41, 97), randn(97)],
        lambda x, w: flag_gems.rms_norm(x, (97,), w),
        lambda x, w: F.rms_norm(x, (97,), w, 1e-5),
    ),
    Kernel(
        "instance_norm",
        lambda: [randn(3, 5, 41), randn(5), randn(5)],
        lambda x, w, b: flag_gems.instance_norm(x, w, b),
        lambda x, w, b: F.instance_norm(x, None, None, w, b),
    ),
    Kernel(
        "weight_norm",
        lambda: [randn(41, 97), randn(41, 1)],
        lambda v, g: flag_gems.weight_norm(v, g, 0),
        lambda v, g: torch._weight_norm(v, g, 0),
    ),
    Kernel(
        "cross_entropy",
        lambda: [randn(41, 97), index(97, 41)],
        lambda x, t: flag_gems.cross_entropy_loss(x, t),
        lambda x, t: F.cross_entropy(x, t),
    ),
    Kernel(
        "cross_entropy_smooth",
        lambda: [randn(41, 97), index(97, 41), torch.rand(97)],
        lambda x, t, w: flag_gems.cross_entropy_loss(x, t, w.detach(), "sum", 3, 0.1),
        lambda x, t, w: F.cross_entropy(
            x, t, w.detach(), ignore_index=3, reduction="sum", label_smoothing=0.1
        ),
    ),
    Kernel(
        "skip_layer_norm",
        lambda: [randn(7, 41), randn(7, 41), randn(41), randn(41)],
        lambda x, r, w, b: flag_gems.skip_layer_norm(x.detach(), r.detach(), (41,), w.detach(), b.detach()),
        lambda x, r, w, b: skip_ln(x, r, w, b).detach(),
    ),
    Kernel(
        "fused_add_rms_norm",
        lambda: [randn(7, 41), randn(7, 41), randn(41)],
        lambda x, r, w: flag_gems.fused_add_rms_norm(x.detach(), r.detach(), (41,), w.detach()),
        lambda x, r, w: [t.detach() for t in fused_add(x, r, w)],
    ),
    Kernel(
        "silu_and_mul",
        lambda: [randn(7, 41), randn(7, 41)],
        flag_gems.silu_and_mul,
        lambda x, y: F.silu(x) * y,
    ),
    Kernel(
        "silu_and_mul_transposed",
        lambda: [randn(41, 7).t(), randn(7, 82)],
        lambda x, y: flag_gems.silu_and_mul(x, y[:, ::2]),
        lambda x, y: F.silu(x) * y[:, ::2],
    ),
    Kernel(
        "gelu_and_mul",
        lambda: [randn(7, 41), randn(7, 41)],
        lambda x, y: flag_gems.gelu_and_mul(x, y, "tanh"),
        lambda x, y: F.gelu(x, approximate="tanh") * y,
    ),
    Kernel(
        "geglu",
        lambda: [randn(7, 82)],
        lambda x: flag_gems.geglu(x.detach()),
        lambda x: (F.gelu(x[:, :41], approximate="tanh") * x[:, 41:]).detach(),
    ),
    Kernel(
        "rotary",
        lambda: [randn(2, 70, 3, 32), randn(2, 70, 2, 32), randn(70, 16), randn(70, 16)],
        lambda q, k, c, s: flag_gems.apply_rotary_pos_emb(q.detach(), k.detach(), c.detach(), s.detach()),
        lambda q, k, c, s: [t.detach() for t in rotary(q, k, c, s)],
    ),
    Kernel(
        "batch_norm_running",
        lambda: [randn(5, 7, 11), randn(7), randn(7), torch.zeros(7), torch.ones(7)],
        lambda x, w, b, m, v: flag_gems.batch_norm(
            x.detach(), w.detach(), b.detach(), m.detach(), v.detach(), True
        )[0],
        lambda x, w, b, m, v: F.batch_norm(x.detach(), None, None, w.detach(), b.detach(), True),
    ),
    aten("cumsum", lambda: [randn(3, 1500)], lambda x: x.cumsum(-1), "cumsum"),
    aten("cumsum_dim0", lambda: [randn(97, 41)], lambda x: x.cumsum(0), "cumsum"),
    aten("cumsum_long", lambda: [randn(9001)], lambda x: x.cumsum(0), "cumsum", rtol=1e-3, atol=1e-3),
    aten("cummax", lambda: [distinct(5, 97)], lambda x: x.cummax(-1), "cummax"),
    aten("sort", lambda: [distinct(5, 97)], lambda x: x.sort(-1), "sort", "sort_stable"),
    aten(
        "sort_transposed",
        lambda: [distinct(97, 5).t()],
        lambda x: x.sort(-1, descending=True),
        "sort",
        "sort_stable",
    ),
    aten("topk", lambda: [distinct(5, 97)], lambda x: x.topk(7, -1), "topk"),
    aten("topk_sliced", lambda: [distinct(5, 2100)], lambda x: x[:, ::2].topk(7, -1), "topk"),
    aten(
        "index_add",
        lambda: [randn(41, 97), index(41, 60), randn(60, 97)],
        lambda x, i, s: x.index_add(0, i, s),
        "index_add",
    ),
    aten(
        "index_put",
        lambda: [randn(41, 97), index(41, 60), index(97, 60), randn(60)],
        lambda x, i, j, v: x.index_put((i, j), v, accumulate=True),
        "index_put",
    ),
    aten(
        "scatter_add",
        lambda: [randn(41, 97), index(41, 30, 97), randn(30, 97)],
        lambda x, i, s: x.detach().clone().scatter_add_(0, i, s.detach()),
        "scatter_add_",
    ),
    aten(
        "gather",
        lambda: [randn(41, 97), index(41, 30, 97)],
        lambda x, i: x.gather(0, i),
        "gather",
        "gather_backward",
    ),
    aten(
        "gather_transposed",
        lambda: [randn(97, 41).t(), index(41, 30, 97)],
        lambda x, i: x.gather(0, i),
        "gather",
        "gather_backward",
    ),
    aten(
        "masked_select",
        lambda: [randn(41, 97), index(2, 41, 97)],
        lambda x, m: x.detach().masked_select(m.bool()),
        "masked_select",
    ),
    aten(
        "masked_scatter",
        lambda: [randn(41, 97), index(2, 41, 97), randn(4000)],
        lambda x, m, s: x.detach().masked_scatter(m.bool(), s.detach()),
        "masked_scatter",
    ),
    aten("nonzero", lambda: [index(2, 41, 97)], lambda x: x.nonzero(), "nonzero"),
    aten(
        "unique",
        lambda: [index(41, 970)],
        lambda x: x.unique(return_inverse=True, return_counts=True),
        "_unique2",
    ),
    Kernel(
        "isin", lambda: [index(200, 41, 7), index(200, 60)], lambda x, y: flag_gems.isin(x, y), torch.isin
    ),
    Kernel("bincount", lambda: [index(41, 970)], lambda x: flag_gems.bincount(x), torch.bincount),
    Kernel(
        "conv2d",
        lambda: [randn(2, 6, 9, 11), randn(4, 3, 3, 3), randn(4)],
        lambda x, w, b: flag_gems.conv2d(x, w, b, padding=1, groups=2),
        lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=2),
        **MM,
    ),
    Kernel(
        "conv2d_transposed",
        lambda: [randn(2, 3, 11, 9).transpose(2, 3), randn(4, 3, 3, 3), randn(4)],
        lambda x, w, b: flag_gems.conv2d(x, w, b, stride=2),
        lambda x, w, b: F.conv2d(x, w, b, stride=2),
        **MM,
    ),
    Kernel(
        "avg_pool2d",
        lambda: [randn(2, 3, 9, 11)],
        lambda x: flag_gems.avg_pool2d(x.detach(), 3, 2, 1),
        lambda x: F.avg_pool2d(x, 3, 2, 1).detach(),
    ),
    aten(
        "max_pool2d",
        lambda: [randn(2, 3, 9, 11)],
        lambda x: torch.ops.aten.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1]),
        "max_pool2d_with_indices",
        "max_pool2d_backward",
    ),
    aten(
        "upsample_bicubic_aa",
        lambda: [randn(2, 3, 9, 11)],
        lambda x: F.interpolate(x.detach(), (5, 6), mode="bicubic", antialias=True),
        "_upsample_bicubic2d_aa",
        rtol=1e-3,
        atol=1e-3,
    ),
    aten(
        "embedding",
        lambda: [randn(41, 97), index(41, 5, 7)],
        lambda w, i: F.embedding(i, w, padding_idx=3),
        "embedding",
        "embedding_dense_backward",
    ),
    aten("mm", lambda: [randn(41, 97), randn(97, 70)], torch.mm, "mm", **MM),
    aten("mm_transposed", lambda: [randn(97, 41).t(), randn(70, 97).t()], torch.mm, "mm", **MM),
    aten("bmm", lambda: [randn(3, 41, 97), randn(3, 97, 70)], torch.bmm, "bmm", **MM),
    aten("addmm", lambda: [randn(70), randn(41, 97), randn(97, 70)], torch.addmm, "addmm", "mm", **MM),
    aten(
        "mv_sliced", lambda: [randn(41, 194), randn(97)], lambda a, x: a.detach()[:, ::2] @ x.detach(), "mv"
    ),
    aten("var_mean", lambda: [randn(41, 97)], lambda x: torch.var_mean(x.detach(), 1), "var_mean"),
    aten("sum_transposed", lambda: [randn(97, 41).t()], lambda x: x.sum(0), "sum_dim"),
    aten(
        "vector_norm",
        lambda: [randn(41, 97)],
        lambda x: torch.linalg.vector_norm(x.detach(), 2, 1),
        "vector_norm",
    ),
    aten("argmax", lambda: [distinct(41, 97)], lambda x: x.argmax(1), "argmax"),
    Kernel(
        "quantile",
        lambda: [randn(41, 97)],
        lambda x: flag_gems.quantile(x.detach(), 0.3, dim=1),
        lambda x: torch.quantile(x.detach(), 0.3, dim=1),
    ),
    aten(
        "repeat_interleave",
        lambda: [randn(41, 7), index(5, 41)],
        lambda x, r: x.detach().repeat_interleave(r, 0),
        "repeat_interleave_self_tensor",
    ),
    aten("triu", lambda: [randn(3, 41, 70)], lambda x: x.triu(2), "triu"),
    Kernel(
        "attention",
        lambda: [randn(2, 3, 70, 32) for _ in range(3)],
        functools.partial(flag_gems.scaled_dot_product_attention, is_causal=True),
        functools.partial(sdpa_reference, causal=True),
        **MM,
    ),
    Kernel(
        "attention_half",
        lambda: [randn(2, 3, 70, 32).half() for _ in range(3)],
        functools.partial(flag_gems.scaled_dot_product_attention, is_causal=False),
        functools.partial(sdpa_reference, causal=False),
        **MM,
    ),
    Kernel(
        "hadamard",
        lambda: [randn(5, 64)],
        lambda x: flag_gems.hadamard_transform(x),
        lambda x: x @ torch.tensor([[(-1.0) ** bin(i & j).count("1") for i in range(64)] for j in range(64)]),
        rtol=1e-4,
        atol=1e-4,
    ),
    Kernel(
        "fused_moe",
        lambda: [
            randn(7, 41),
            randn(3, 64, 41) / 6,
            randn(3, 41, 32) / 6,
            torch.rand(7, 2),
            torch.stack([torch.randperm(3)[:2] for _ in range(7)]),
        ],
        lambda *a: flag_gems.fused.fused_moe.outplace_fused_experts(*(t.detach() for t in a)),
        lambda *a: moe_reference(*(t.detach() for t in a)),
        **MM,
    ),
]

if __name__ == "__main__":
    main(KERNELS)
