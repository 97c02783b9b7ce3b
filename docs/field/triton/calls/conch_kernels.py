"""conch-triton-kernels 1.3 beside plain torch, without autograd.

python conch_kernels.py [NAME...]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from beside_cpu import Function, Inputs, Kernel, main
from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul
from conch.ops.activation.silu_and_mul import silu_and_mul
from conch.ops.attention.paged_attention import paged_attention
from conch.ops.attention.varlen_attention import varlen_attention
from conch.ops.embedding.rotary_embedding import rotary_embedding
from conch.ops.normalization.gemma_rms_norm import gemma_rms_norm
from conch.ops.normalization.rms_norm import fused_add_rms_norm, rms_norm
from conch.ops.quantization.bitsandbytes.functional import dequantize_4bit, quantize_4bit
from conch.ops.quantization.fp8 import scaled_fp8_quant
from conch.ops.quantization.gemm import scaled_gemm
from conch.ops.quantization.int8 import scaled_int8_quant
from conch.ops.vision.bev_pool import bev_pool, bev_pool_backward
from conch.ops.vision.nms import nms
from conch.ops.vision.voxelization import VoxelizationParameter, generate_voxels
from conch.ops.vllm.copy_blocks import copy_blocks
from conch.ops.vllm.reshape_and_cache import reshape_and_cache
from conch.reference.embedding.rotary_embedding import _rotary_embedding_pytorch_ref, compute_cos_sin_cache
from conch.reference.vision.nms import _nms_pytorch_iterative

randn = torch.randn


def plain(function: Function) -> Function:
    """Without gradients."""

    def call(*arguments: torch.Tensor) -> Any:
        with torch.no_grad():
            return function(*(a.detach() for a in arguments))

    return call


def forward(name: str, inputs: Inputs, function: Function, reference: Function, **tolerances: Any) -> Kernel:
    """A kernel of which both sides are called without gradients."""
    return Kernel(name, inputs, plain(function), plain(reference), **tolerances)


def rms(x: torch.Tensor, w: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """For the last dim."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * w


def boxes() -> list[torch.Tensor]:
    """Boxes that overlap, and distinct scores."""
    corner = torch.rand(41, 2) * 20
    return [torch.cat([corner, corner + 1 + torch.rand(41, 2) * 15], 1), torch.randperm(41).float()]


def paged_inputs() -> list[torch.Tensor]:
    """Three sequences of 70, 5 and 33 tokens, pages of 16, four query heads, two of keys, 32 wide."""
    return [
        randn(3, 4, 32),
        randn(12, 16, 2, 32),
        randn(12, 16, 2, 32),
        torch.randperm(12)[:12].reshape(3, 4).repeat(1, 2)[:, :5].contiguous().int(),
        torch.tensor([70, 5, 33], dtype=torch.int32),
    ]


def of_pages(cache: torch.Tensor, table: list[int], length: int) -> torch.Tensor:
    """The tokens of one sequence."""
    return torch.cat([cache[p] for p in table])[:length]


def paged_reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, table: torch.Tensor, lengths: torch.Tensor
) -> torch.Tensor:
    """One query for each sequence."""
    out = []
    for i, n in enumerate(lengths.tolist()):
        ks, vs = (of_pages(c, table[i].tolist(), n).repeat_interleave(2, 1) for c in (k, v))
        p = torch.einsum("hd,nhd->hn", q[i], ks).mul(32**-0.5).softmax(-1)
        out.append(torch.einsum("hn,nhd->hd", p, vs))
    return torch.stack(out)


def varlen_inputs() -> list[torch.Tensor]:
    """The same pages, and sequences of 9, 5 and 6 queries."""
    return [randn(20, 4, 32), *paged_inputs()[1:], torch.tensor([0, 9, 14, 20], dtype=torch.int32)]


def varlen_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    table: torch.Tensor,
    lengths: torch.Tensor,
    cu: torch.Tensor,
) -> torch.Tensor:
    """A causal mask counts from the first key."""
    out = []
    for i, n in enumerate(lengths.tolist()):
        qs = q[cu[i] : cu[i + 1]]
        m = qs.shape[0]
        ks, vs = (of_pages(c, table[i].tolist(), n).repeat_interleave(2, 1) for c in (k, v))
        s = torch.einsum("mhd,nhd->hmn", qs, ks) * 32**-0.5
        s = s.masked_fill(torch.arange(n) > torch.arange(m)[:, None], -torch.inf)
        out.append(torch.einsum("hmn,nhd->mhd", s.softmax(-1), vs))
    return torch.cat(out)


def cached(
    key: torch.Tensor, value: torch.Tensor, kc: torch.Tensor, vc: torch.Tensor, slots: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both caches, with each token in its slot."""
    kc, vc = kc.clone(), vc.clone()
    for t, slot in enumerate(slots.tolist()):
        if slot >= 0:
            kc.view(-1, 2, 32)[slot], vc.view(-1, 2, 32)[slot] = key[t], value[t]
    return kc, vc


def conch_cached(
    key: torch.Tensor, value: torch.Tensor, kc: torch.Tensor, vc: torch.Tensor, slots: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both caches, which the library changes in place."""
    reshape_and_cache(key, value, kc, vc, slots)
    return kc, vc


def copied(a: torch.Tensor, b: torch.Tensor, pairs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both caches, with each pair's first block instead of its second."""
    for s, d in pairs.tolist():
        a[d], b[d] = a[s], b[s]
    return a, b


def conch_copied(a: torch.Tensor, b: torch.Tensor, pairs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both caches, which the library changes in place."""
    copy_blocks([a], [b], pairs)
    return a, b


def bev_inputs() -> list[torch.Tensor]:
    """Points in the order of their cells, and the first point and the number of points of each cell."""
    n = 97
    geom = torch.stack([torch.randint(0, m, (n,)) for m in (5, 4, 3, 2)], 1)
    rank = geom[:, 0] * 24 + geom[:, 1] * 6 + geom[:, 2] * 2 + geom[:, 3]
    order = rank.argsort()
    geom, rank = geom[order].int(), rank[order]
    start = torch.cat([torch.tensor([0]), (rank[1:] != rank[:-1]).nonzero()[:, 0] + 1])
    length = torch.cat([start[1:], torch.tensor([n])]) - start
    return [randn(n, 41), geom, start.int(), length.int()]


def bev_reference(
    x: torch.Tensor, geom: torch.Tensor, start: torch.Tensor, length: torch.Tensor
) -> torch.Tensor:
    """Sums by cell: `geom` names x, y, z and batch, and the output has the dims batch, z, x and y."""
    out = torch.zeros(2, 3, 5, 4, x.shape[1])
    for i in range(x.shape[0]):
        gx, gy, gz, b = geom[i].tolist()
        out[b, gz, gx, gy] += x[i]
    return out


def bev_backward_reference(
    grad: torch.Tensor, geom: torch.Tensor, start: torch.Tensor, length: torch.Tensor
) -> torch.Tensor:
    """The gradient of each point's cell."""
    g = geom.long()
    return grad[g[:, 3], g[:, 2], g[:, 0], g[:, 1]]


PARAM = VoxelizationParameter((0.0, 0.0, 0.0), (4.0, 4.0, 2.0), (1.0, 1.0, 1.0), 5)


def voxels(points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Counts by voxel and sums of features, in the order of the voxels."""
    count, features, indices, points_of = generate_voxels(points, PARAM)
    n = int(count.item())
    counts, sums = torch.zeros(32), torch.zeros(32, 4)
    for i in range(n):
        x, y, z = indices[i, :3].tolist()
        m = int(points_of[i].item())
        counts[z * 16 + y * 4 + x] = m
        sums[z * 16 + y * 4 + x] = features[i, :m].sum(0).cpu()
    return counts, sums


def voxels_reference(points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same, point by point."""
    counts, sums = torch.zeros(32), torch.zeros(32, 4)
    for p in points:
        x, y, z = (int(c) for c in p[:3].floor())
        if 0 <= x < 4 and 0 <= y < 4 and 0 <= z < 2:
            counts[z * 16 + y * 4 + x] += 1
            sums[z * 16 + y * 4 + x] += p
    return counts, sums


def voxel_points() -> list[torch.Tensor]:
    """At most five in a voxel, and some outside of all."""
    cells = torch.randperm(32).repeat(3)
    base = torch.stack([cells % 4, cells // 4 % 4, cells // 16], 1)
    points = torch.cat([base + torch.rand(96, 3) * 0.98, torch.rand(96, 1)], 1)
    points[::10] += 50
    return [points]


def bnb(kind: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """Quantizes in blocks of 64 and back."""

    def call(x: torch.Tensor) -> torch.Tensor:
        packed, state = quantize_4bit(x.flatten(), blocksize=64, quant_type=kind)
        return dequantize_4bit(packed, state, quant_type=kind).view_as(x)

    return call


NF4 = torch.tensor(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ]
)
FP4 = torch.tensor([0.0, 0.0052083333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25])
FP4 = torch.cat([FP4, -FP4])


def bnb_reference(table: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Takes the nearest value of the table, in units of the block's largest."""

    def call(x: torch.Tensor) -> torch.Tensor:
        flat = F.pad(x.flatten(), (0, -x.numel() % 64)).view(-1, 64)
        scale = flat.abs().amax(1, keepdim=True)
        nearest = ((flat / scale)[..., None] - table).abs().argmin(-1)
        return (table[nearest] * scale).flatten()[: x.numel()].view_as(x)

    return call


def int8(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """With a scale for all."""
    return scaled_int8_quant(x, s)[0]


def scaled(a: torch.Tensor, b: torch.Tensor, sa: torch.Tensor, sb: torch.Tensor) -> torch.Tensor:
    """The product with a scale for each row and each column, in float32."""
    return scaled_gemm(a, b, sa, sb, torch.float32)


ATTENTION = {"rtol": 1e-2, "atol": 5e-3}
KERNELS = [
    forward("silu_and_mul", lambda: [randn(7, 82)], silu_and_mul, lambda x: F.silu(x[:, :41]) * x[:, 41:]),
    forward(
        "silu_and_mul_sliced",
        lambda: [randn(14, 82)],
        lambda x: silu_and_mul(x[::2]),
        lambda x: F.silu(x[::2, :41]) * x[::2, 41:],
    ),
    forward(
        "silu_and_mul_transposed",
        lambda: [randn(82, 7).t()],
        silu_and_mul,
        lambda x: F.silu(x[:, :41]) * x[:, 41:],
    ),
    forward(
        "gelu_tanh_and_mul",
        lambda: [randn(7, 194)],
        gelu_tanh_and_mul,
        lambda x: F.gelu(x[:, :97], approximate="tanh") * x[:, 97:],
    ),
    forward(
        "gelu_tanh_and_mul_sliced",
        lambda: [randn(14, 194)],
        lambda x: gelu_tanh_and_mul(x[::2]),
        lambda x: F.gelu(x[::2, :97], approximate="tanh") * x[::2, 97:],
    ),
    forward("rms_norm", lambda: [randn(7, 97), randn(97)], lambda x, w: rms_norm(x, w, 1e-5), rms),
    forward(
        "rms_norm_transposed", lambda: [randn(97, 7).t(), randn(97)], lambda x, w: rms_norm(x, w, 1e-5), rms
    ),
    forward(
        "fused_add_rms_norm",
        lambda: [randn(7, 97), randn(7, 97), randn(97)],
        lambda x, r, w: fused_add_rms_norm(x, r, w, 1e-5),
        lambda x, r, w: (rms(x + r, w), x + r),
    ),
    forward(
        "gemma_rms_norm",
        lambda: [randn(7, 97), randn(97)],
        lambda x, w: gemma_rms_norm(x, w, 1e-5),
        lambda x, w: rms(x, 1 + w),
    ),
    forward(
        "rotary_embedding",
        lambda: [
            torch.randint(0, 100, (70,)),
            randn(70, 128),
            randn(70, 64),
            compute_cos_sin_cache(10000.0, 32, 100),
        ],
        lambda p, q, k, c: rotary_embedding(p, q, k, 32, c),
        lambda p, q, k, c: _rotary_embedding_pytorch_ref(p, q, k, c, 32, 32),
    ),
    forward(
        "fp8_quant",
        lambda: [randn(7, 97), torch.tensor([0.02])],
        lambda x, s: scaled_fp8_quant(x, s)[0].float(),
        lambda x, s: (x / s).clamp(-448, 448).to(torch.float8_e4m3fn).float(),
        rtol=0.13,
    ),
    forward(
        "int8_quant",
        lambda: [randn(7, 97), torch.tensor([0.02])],
        int8,
        lambda x, s: (x / s).round().clamp(-128, 127).to(torch.int8),
        atol=1.01,
    ),
    forward(
        "scaled_gemm_int8",
        lambda: [
            torch.randint(-50, 50, (41, 97)).to(torch.int8),
            torch.randint(-50, 50, (97, 70)).to(torch.int8),
            torch.rand(41, 1),
            torch.rand(70, 1),
        ],
        scaled,
        lambda a, b, sa, sb: (a.float() @ b.float()) * sa * sb.t(),
    ),
    forward(
        "scaled_gemm_transposed",
        lambda: [
            torch.randint(-50, 50, (41, 97)).to(torch.int8),
            torch.randint(-50, 50, (70, 97)).to(torch.int8).t(),
            torch.rand(41, 1),
            torch.rand(70, 1),
        ],
        scaled,
        lambda a, b, sa, sb: (a.float() @ b.float()) * sa * sb.t(),
    ),
    forward(
        "scaled_gemm_multiples",
        lambda: [
            torch.randint(-50, 50, (41, 128)).to(torch.int8),
            torch.randint(-50, 50, (128, 64)).to(torch.int8),
            torch.rand(41, 1),
            torch.rand(64, 1),
        ],
        scaled,
        lambda a, b, sa, sb: (a.float() @ b.float()) * sa * sb.t(),
    ),
    forward("nms", boxes, lambda b, s: nms(b, s, 0.5), lambda b, s: _nms_pytorch_iterative(b, s, 0.5)),
    forward("bev_pool", bev_inputs, lambda x, g, s, n: bev_pool(x, g, s, n, 2, 3, 5, 4), bev_reference),
    forward(
        "bev_pool_backward",
        lambda: [randn(2, 3, 5, 4, 41), *bev_inputs()[1:]],
        bev_pool_backward,
        bev_backward_reference,
    ),
    forward("voxelization", voxel_points, voxels, voxels_reference),
    forward(
        "copy_blocks",
        lambda: [randn(9, 64), randn(9, 64), torch.tensor([[1, 5], [2, 7], [3, 8]])],
        conch_copied,
        copied,
    ),
    forward(
        "reshape_and_cache",
        lambda: [
            randn(20, 2, 32),
            randn(20, 2, 32),
            randn(4, 16, 2, 32),
            randn(4, 16, 2, 32),
            torch.randperm(64)[:20],
        ],
        conch_cached,
        cached,
    ),
    forward("quantize_nf4", lambda: [randn(10, 97)], bnb("nf4"), bnb_reference(NF4)),
    forward("quantize_fp4", lambda: [randn(10, 97)], bnb("fp4"), bnb_reference(FP4)),
    forward(
        "paged_attention",
        paged_inputs,
        lambda q, k, v, t, n: paged_attention(q, k, v, t, n),
        paged_reference,
        **ATTENTION,
    ),
    forward(
        "varlen_attention",
        varlen_inputs,
        lambda q, k, v, t, n, c: varlen_attention(q, k, v, c, 9, n, 70, t, causal=True),
        varlen_reference,
        **ATTENTION,
    ),
    forward(
        "varlen_attention_sliced",
        lambda: [randn(20, 8, 32), *varlen_inputs()[1:]],
        lambda q, k, v, t, n, c: varlen_attention(q[:, ::2], k, v, c, 9, n, 70, t, causal=True),
        lambda q, *a: varlen_reference(q[:, ::2], *a),
        **ATTENTION,
    ),
]

if __name__ == "__main__":
    main(KERNELS)
