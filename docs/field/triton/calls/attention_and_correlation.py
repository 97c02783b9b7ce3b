"""adasplash 0.2.2, localcorr 0.1.1 and sageattention 1.0.6 beside plain torch.

python attention_and_correlation.py [NAME...]
"""

from __future__ import annotations

import functools
import math
from itertools import pairwise
from typing import Any

import adasplash
import torch
import torch.nn.functional as F
from beside_cpu import Function, Kernel, main
from localcorr import LocalCorrTritonBlock, LocalCorrTritonFusedBlock, TritonSpatialCorrelationSampler
from sageattention.core import sageattn, sageattn_varlen

randn = torch.randn


def lengths(*sizes: int) -> torch.Tensor:
    """Where each sequence begins, and the end."""
    return torch.tensor([0, *sizes], dtype=torch.int32).cumsum(0).int()


def entmax_reference(x: torch.Tensor, alpha: float = 1.5) -> torch.Tensor:
    """Bisection, with the gradient of the definition."""
    z = x.detach().double() * (alpha - 1)
    low, high = z.amax(-1, keepdim=True) - 1, z.amax(-1, keepdim=True)
    for _ in range(60):
        middle = (low + high) / 2
        over = (z - middle).clamp(min=0).pow(1 / (alpha - 1)).sum(-1, keepdim=True) >= 1
        low, high = torch.where(over, middle, low), torch.where(over, high, middle)
    p = (z - low).clamp(min=0).pow(1 / (alpha - 1))
    p = (p / p.sum(-1, keepdim=True)).float()

    class Straight(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return p

        @staticmethod
        def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
            g = torch.where(p > 0, p.pow(2 - alpha), 0)
            return g * dy - g * (g * dy).sum(-1, keepdim=True) / g.sum(-1, keepdim=True)

    return Straight.apply(x)


def entmax_attention_reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, n: torch.Tensor | None = None
) -> torch.Tensor:
    """Attention with entmax instead of the softmax, for sequences of length `n`."""
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    length = q.shape[-2]
    if causal:
        s = s.masked_fill(~torch.ones(length, length).tril().bool(), -1e9)
    if n is not None:
        keep = torch.arange(length) < n[:, None]
        s = s.masked_fill(~keep[:, None, None], -1e9)
    out = entmax_reference(s) @ v
    return out if n is None else out * keep[:, None, :, None]


def pyramid_reference(
    f1: torch.Tensor, f2: torch.Tensor, coords: torch.Tensor, levels: int = 2, radius: int = 2
) -> torch.Tensor:
    """Products of the first map with the second one around the coordinates, at several sizes."""
    b, c, h, w = f1.shape
    out, current = [], f2
    around = torch.arange(-radius, radius + 1).float()
    for level in range(levels):
        if level:
            current = F.avg_pool2d(current, 2, stride=2)
        h2, w2 = current.shape[-2:]
        at = coords.detach().permute(0, 2, 3, 1) / 2**level
        channels = []
        for j in around:
            for i in around:
                x, y = at[..., 0] + j, at[..., 1] + i
                grid = torch.stack([(x + 0.5) / w2 * 2 - 1, (y + 0.5) / h2 * 2 - 1], -1)
                sample = F.grid_sample(current, grid, align_corners=False)
                channels.append((f1 * sample).sum(1))
        out.append(torch.stack(channels, 1))
    return torch.cat(out, 1) / math.sqrt(c)


def pyramid(block: Function, f1: torch.Tensor, f2: torch.Tensor, coords: torch.Tensor) -> torch.Tensor:
    """Two sizes, and two elements to each side."""
    return block(f1, f2, num_levels=2, radius=2)(coords.detach())


def spatial(f1: torch.Tensor, f2: torch.Tensor) -> torch.Tensor:
    """Five by five shifts, in steps of two."""
    return TritonSpatialCorrelationSampler(patch_size=5, dilation_patch=2)(f1, f2)


def spatial_reference(f1: torch.Tensor, f2: torch.Tensor) -> torch.Tensor:
    """The same, shift by shift."""
    b, c, h, w = f1.shape
    padded = F.pad(f2, [4, 4, 4, 4])
    return torch.stack(
        [
            torch.stack(
                [(f1 * padded[:, :, 2 * i : 2 * i + h, 2 * j : 2 * j + w]).sum(1) for j in range(5)], 1
            )
            for i in range(5)
        ],
        1,
    )


def sage(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> torch.Tensor:
    """The library changes the keys in place."""
    return sageattn(q.detach(), k.detach().clone(), v.detach(), **options)


def sage_nhd(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Heads after tokens, by strides."""
    turned = [t.detach().transpose(1, 2) for t in (q, k, v)]
    return sageattn(turned[0], turned[1].clone(), turned[2], tensor_layout="NHD").transpose(1, 2)


def sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> torch.Tensor:
    """Attention of the softmax, in which heads of queries share a head of keys."""
    return F.scaled_dot_product_attention(
        q.detach().float(), k.detach().float(), v.detach().float(), is_causal=causal, enable_gqa=True
    )


def sage_varlen(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cu: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Sequences of at most 41 tokens, one after the other."""
    return sageattn_varlen(q.detach(), k.detach().clone(), v.detach(), cu, cu, 41, 41, is_causal=causal)


def sage_varlen_reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cu: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Sequence by sequence."""
    parts = [
        sdpa(*(t[a:b].transpose(0, 1) for t in (q, k, v)), causal).transpose(0, 1) for a, b in pairwise(cu)
    ]
    return torch.cat(parts)


def heads(n: int, d: int = 64) -> list[torch.Tensor]:
    """Queries of `n` heads, keys and values of two, all of 70 tokens."""
    return [randn(2, n, 70, d).half(), randn(2, 2, 70, d).half(), randn(2, 2, 70, d).half()]


def queries_keys_values() -> list[torch.Tensor]:
    """Two heads of 70 tokens."""
    return [randn(2, 2, 70, 32) for _ in range(3)]


def maps() -> list[torch.Tensor]:
    """Two maps of 41 channels, and coordinates in the second one."""
    return [randn(2, 41, 6, 7), randn(2, 41, 6, 7), torch.rand(2, 2, 6, 7) * 7]


MAX = {"rtol": 1e-2, "atol": 2e-2}
SAGE = {"ratio": 0.05}
KERNELS = [
    Kernel(
        "entmax15",
        lambda: [randn(7, 97) * 3],
        adasplash.triton_entmax15,
        entmax_reference,
        rtol=1e-3,
        atol=1e-4,
    ),
    Kernel(
        "sparsemax",
        lambda: [randn(7, 97) * 3],
        adasplash.triton_sparsemax,
        functools.partial(entmax_reference, alpha=2.0),
        rtol=1e-3,
        atol=1e-4,
    ),
    Kernel(
        "entmax_1.3",
        lambda: [randn(7, 97) * 3],
        functools.partial(adasplash.triton_entmax, alpha=1.3),
        functools.partial(entmax_reference, alpha=1.3),
        rtol=1e-3,
        atol=1e-4,
    ),
    Kernel(
        "entmax_v1",
        lambda: [randn(7, 97) * 3],
        adasplash.triton_entmax_v1,
        entmax_reference,
        rtol=1e-3,
        atol=1e-3,
    ),
    Kernel(
        "adasplash_v1",
        lambda: [randn(2, 2, 128, 32) for _ in range(3)],
        adasplash.adasplash_v1,
        functools.partial(entmax_attention_reference, causal=False),
        **MAX,
    ),
    Kernel(
        "adasplash_v1_varlen",
        lambda: [*queries_keys_values(), torch.tensor([70, 41], dtype=torch.int32)],
        lambda q, k, v, n: adasplash.adasplash_v1(q, k, v, is_causal=True, varlen=n),
        lambda q, k, v, n: entmax_attention_reference(q, k, v, True, n),
        **MAX,
    ),
    Kernel(
        "adasplash_no_block_mask",
        lambda: [randn(2, 2, 128, 32) for _ in range(3)],
        adasplash.adasplash_no_block_mask,
        functools.partial(entmax_attention_reference, causal=False),
        **MAX,
    ),
    Kernel(
        "adasplash_v2",
        lambda: [randn(2, 2, 128, 32).half() for _ in range(3)],
        functools.partial(adasplash.adasplash_v2, niter=3),
        lambda *a: entmax_attention_reference(*(t.float() for t in a), True),
        rtol=2e-2,
        atol=3e-2,
    ),
    Kernel(
        "adasplash_v2_varlen",
        lambda: [*(t.half() for t in queries_keys_values()), torch.tensor([70, 41], dtype=torch.int32)],
        lambda q, k, v, n: adasplash.adasplash_v2(q, k, v, 3, n),
        lambda q, k, v, n: entmax_attention_reference(q.float(), k.float(), v.float(), True, n),
        rtol=2e-2,
        atol=3e-2,
    ),
    Kernel(
        "localcorr_block",
        maps,
        functools.partial(pyramid, LocalCorrTritonBlock),
        pyramid_reference,
        rtol=1e-3,
        atol=1e-3,
    ),
    Kernel(
        "localcorr_fused",
        maps,
        functools.partial(pyramid, LocalCorrTritonFusedBlock),
        pyramid_reference,
        rtol=1e-3,
        atol=1e-3,
    ),
    Kernel(
        "localcorr_fused_wide",
        lambda: [randn(1, 300, 4, 5), randn(1, 300, 4, 5), torch.rand(1, 2, 4, 5) * 5],
        functools.partial(pyramid, LocalCorrTritonFusedBlock),
        pyramid_reference,
        rtol=1e-3,
        atol=1e-3,
    ),
    Kernel(
        "localcorr_spatial",
        lambda: [randn(2, 41, 6, 7), randn(2, 41, 6, 7)],
        spatial,
        spatial_reference,
        rtol=1e-3,
        atol=1e-3,
    ),
    Kernel("sage", lambda: heads(4), sage, sdpa, **SAGE),
    Kernel(
        "sage_multiple",
        lambda: [randn(2, 4, 70, 64).half(), randn(2, 2, 128, 64).half(), randn(2, 2, 128, 64).half()],
        sage,
        sdpa,
        **SAGE,
    ),
    Kernel(
        "sage_causal",
        lambda: heads(4),
        functools.partial(sage, is_causal=True),
        functools.partial(sdpa, causal=True),
        **SAGE,
    ),
    Kernel("sage_96", lambda: heads(2, 96), sage, sdpa, **SAGE),
    Kernel(
        "sage_96_causal",
        lambda: heads(2, 96),
        functools.partial(sage, is_causal=True),
        functools.partial(sdpa, causal=True),
        **SAGE,
    ),
    Kernel("sage_nhd_transposed", lambda: heads(4), sage_nhd, sdpa, **SAGE),
    Kernel(
        "sage_varlen",
        lambda: [randn(64, 4, 64).half(), randn(64, 2, 64).half(), randn(64, 2, 64).half(), lengths(41, 23)],
        sage_varlen,
        sage_varlen_reference,
        **SAGE,
    ),
    Kernel(
        "sage_varlen_causal",
        lambda: [randn(64, 4, 64).half(), randn(64, 2, 64).half(), randn(64, 2, 64).half(), lengths(41, 23)],
        functools.partial(sage_varlen, causal=True),
        functools.partial(sage_varlen_reference, causal=True),
        **SAGE,
    ),
]

if __name__ == "__main__":
    main(KERNELS)
