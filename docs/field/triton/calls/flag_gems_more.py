"""More of flag-gems 5.0.2 beside plain torch: locks, groups, several passes.

python flag_gems_more.py [NAME...]
"""

from __future__ import annotations

import flag_gems
import torch
import torch.nn.functional as F
from beside_cpu import Kernel, main
from flag_gems.fused.FLA.chunk import chunk_gated_delta_rule_fwd
from flag_gems.fused.sparse_attention import sparse_attn_triton
from flag_gems.ops.mm_streamk import streamk_mm
from flag_gems_kernels import aten, distinct, index, randn


def streamk(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product by blocks that share their tiles, for three multiprocessors."""
    a, b = a.detach(), b.detach()
    if not a.is_cuda:
        return a @ b
    c = torch.empty(a.shape[0], b.shape[1], device=a.device, dtype=a.dtype)
    streamk_mm(a, b, c, a.shape[0], b.shape[1], a.shape[1], sm_count=3)
    return c


def streamk_half(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same product in bfloat16."""
    return streamk(a.bfloat16(), b.bfloat16()).float()


def topk_softmax(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The three largest elements of the softmax, and where they are."""
    x = x.detach()
    if not x.is_cuda:
        return x.softmax(-1).topk(3)
    w = torch.empty(x.shape[0], 3, device="cuda")
    i, s = (torch.empty(x.shape[0], 3, device="cuda", dtype=torch.int32) for _ in range(2))
    flag_gems.topk_softmax(w, i, s, x, False)
    return w, i


def aligned(ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For each block of the sorted tokens its expert, and which tokens it has."""
    counts = torch.bincount(ids.flatten().cpu(), minlength=5)
    if ids.is_cuda:
        sorted_ids, experts, n = flag_gems.moe_align_block_size(ids, 16, 5)
        n = int(n.item())
        blocks = sorted_ids[:n].view(-1, 16).cpu()
        blocks = torch.where(blocks < ids.numel(), blocks, ids.numel()).sort(-1).values
        return experts[: n // 16].cpu().int(), torch.stack([(b < ids.numel()).sum() for b in blocks])
    experts = torch.cat([torch.full((-(-int(c) // 16),), e) for e, c in enumerate(counts)]).int()
    return experts, torch.cat(
        [torch.tensor([min(16, int(c) - s) for s in range(0, int(c), 16)], dtype=torch.long) for c in counts]
    )


def group(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    """Rows up to each offset, times the matrix of their group."""
    a, b = a.detach().bfloat16(), b.detach().bfloat16()
    if a.is_cuda:
        return flag_gems.ops.group_gemm.group_mm(a, b, offs).float()
    ends = offs.tolist()
    return torch.cat(
        [a[s:e].float() @ b[i].float() for i, (s, e) in enumerate(zip([0, *ends[:-1]], ends, strict=True))]
    )


def delta(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    """The gated delta rule; the reference goes token by token."""
    q, k, v, g, beta = (t.detach() for t in (q, k, v, g, beta))
    if q.is_cuda:
        out = chunk_gated_delta_rule_fwd(
            q,
            k,
            v,
            g,
            beta,
            q.shape[-1] ** -0.5,
            torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3], device="cuda"),
            True,
        )
        return out[1].float()
    q, k, v, g, beta = (t.float() for t in (q, k, v, g, beta))
    b, t, h, d = q.shape
    state, out = torch.zeros(b, h, d, v.shape[3]), []
    for i in range(t):
        state = state * g[:, i, :, None, None].exp()
        error = (v[:, i] - torch.einsum("bhkv,bhk->bhv", state, k[:, i])) * beta[:, i, :, None]
        state = state + k[:, i, :, :, None] * error[:, :, None]
        out.append(torch.einsum("bhkv,bhk->bhv", state, q[:, i] * d**-0.5))
    return torch.stack(out, 1)


def sparse(q: torch.Tensor, kv: torch.Tensor, sink: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """Attention of each query to the keys that its indices name, with a sink for each head."""
    q, kv, sink = q.detach().bfloat16(), kv.detach().bfloat16(), sink.detach()
    if q.is_cuda:
        return sparse_attn_triton(q, kv, sink, ids, q.shape[-1] ** -0.5).float()
    q, kv = q.float(), kv.float()
    b, m, h, d = q.shape
    out = torch.zeros(b, m, h, d)
    for i in range(b):
        for j in range(m):
            at = ids[i, j][ids[i, j] >= 0].long()
            s = q[i, j] @ kv[i, at].T * d**-0.5
            e = torch.cat([s, sink[:, None]], 1).softmax(-1)[:, :-1]
            out[i, j] = e @ kv[i, at]
    return out


MM = {"rtol": 2e-2, "atol": 5e-2}
KERNELS = [
    Kernel(
        "attention64",
        lambda: [randn(2, 3, 70, 64) for _ in range(3)],
        lambda q, k, v: flag_gems.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        **MM,
    ),
    Kernel(
        "attention32",
        lambda: [randn(2, 3, 70, 32).half() for _ in range(3)],
        lambda q, k, v: flag_gems.scaled_dot_product_attention(q, k, v),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
        **MM,
    ),
    Kernel("streamk", lambda: [randn(200, 300), randn(300, 200)], streamk, streamk, **MM),
    Kernel(
        "streamk_bf16",
        lambda: [randn(200, 300), randn(300, 200)],
        streamk_half,
        lambda a, b: streamk(a.bfloat16().float(), b.bfloat16().float()),
        rtol=2e-2,
        atol=0.2,
    ),
    Kernel("topk_softmax", lambda: [randn(41, 13)], topk_softmax, topk_softmax),
    Kernel("moe_align", lambda: [index(5, 70, 2)], aligned, aligned),
    Kernel(
        "group_mm",
        lambda: [randn(70, 48), randn(3, 48, 40), torch.tensor([10, 41, 70], dtype=torch.int32)],
        group,
        group,
        rtol=2e-2,
        atol=0.1,
    ),
    Kernel(
        "delta_rule",
        lambda: [
            F.normalize(randn(1, 70, 2, 64), dim=-1).bfloat16(),
            F.normalize(randn(1, 70, 2, 64), dim=-1).bfloat16(),
            randn(1, 70, 2, 64).bfloat16(),
            F.logsigmoid(randn(1, 70, 2)),
            torch.rand(1, 70, 2),
        ],
        delta,
        delta,
        ratio=0.02,
    ),
    Kernel(
        "sparse_attention",
        lambda: [
            randn(1, 5, 16, 64),
            randn(1, 41, 64),
            randn(16),
            torch.stack([torch.randperm(41)[:20] for _ in range(5)])[None].int(),
        ],
        sparse,
        sparse,
        rtol=2e-2,
        atol=5e-2,
    ),
    aten("prod", lambda: [randn(41, 7)], lambda x: x.detach().prod(1), "prod_dim"),
    aten("amax", lambda: [randn(41, 97)], lambda x: x.detach().amax(1), "amax"),
    aten("all", lambda: [index(2, 41, 7)], lambda x: x.bool().all(1), "all_dim"),
    aten("std", lambda: [randn(41, 97)], lambda x: x.detach().std(1), "std"),
    aten(
        "dot", lambda: [randn(9001), randn(9001)], lambda x, y: x.detach().dot(y.detach()), "dot", rtol=1e-3
    ),
    aten("cat", lambda: [randn(41, 7), randn(41, 5)], lambda x, y: torch.cat([x, y], 1).detach(), "cat"),
    aten(
        "index_select",
        lambda: [randn(41, 97), index(41, 7)],
        lambda x, i: x.detach().index_select(0, i),
        "index_select",
    ),
    aten(
        "select_scatter",
        lambda: [randn(41, 97), randn(97)],
        lambda x, y: x.detach().select_scatter(y.detach(), 0, 3),
        "select_scatter",
    ),
    aten(
        "scatter_reduce",
        lambda: [randn(41, 97), index(41, 30, 97), randn(30, 97)],
        lambda x, i, s: x.detach().scatter(0, i, s.detach(), reduce="add"),
        "scatter",
    ),
    aten(
        "upsample_nearest2d",
        lambda: [randn(2, 3, 7, 5)],
        lambda x: F.interpolate(x.detach(), (11, 9)),
        "upsample_nearest2d",
    ),
    aten(
        "reflection_pad2d",
        lambda: [randn(2, 3, 7, 5)],
        lambda x: F.pad(x.detach(), (1, 2, 3, 1), "reflect"),
        "reflection_pad2d",
    ),
    aten(
        "nll_loss",
        lambda: [randn(41, 97), index(97, 41)],
        lambda x, t: F.nll_loss(x, t),
        "nll_loss_forward",
        "nll_loss_backward",
    ),
    aten("sort_long", lambda: [distinct(1, 2100)], lambda x: x.sort(-1), "sort", "sort_stable"),
    aten(
        "unique_long",
        lambda: [index(3000, 9001)],
        lambda x: x.unique(return_inverse=True, return_counts=True),
        "_unique2",
    ),
    aten("nonzero_long", lambda: [index(2, 9001)], lambda x: x.nonzero(), "nonzero"),
    aten(
        "masked_select_long",
        lambda: [randn(9001), index(2, 9001)],
        lambda x, m: x.detach().masked_select(m.bool()),
        "masked_select",
    ),
    aten("cummin_long", lambda: [distinct(1, 5000)[0]], lambda x: x.detach().cummin(0), "cummin"),
    aten(
        "randperm",
        lambda: [index(5, 3)],
        lambda x: torch.randperm(3000, device=x.device).sort().values,
        "randperm",
    ),
    Kernel(
        "conv3d",
        lambda: [randn(1, 3, 5, 6, 7), randn(4, 3, 3, 3, 3), randn(4)],
        lambda x, w, b: flag_gems.conv3d(x.detach(), w.detach(), b.detach(), padding=1),
        lambda x, w, b: F.conv3d(x.detach(), w.detach(), b.detach(), padding=1),
        **MM,
    ),
    Kernel(
        "conv1d_transposed",
        lambda: [randn(2, 41, 6).transpose(1, 2), randn(4, 6, 3), randn(4)],
        lambda x, w, b: flag_gems.conv1d(x.detach(), w.detach(), b.detach(), padding=1),
        lambda x, w, b: F.conv1d(x.detach(), w.detach(), b.detach(), padding=1),
        **MM,
    ),
    aten("flip", lambda: [randn(41, 97)], lambda x: x.detach().flip(1), "flip"),
    Kernel("outer", lambda: [randn(41), randn(97)], flag_gems.outer, torch.outer),
    Kernel(
        "swiglu",
        lambda: [randn(7, 82)],
        lambda x: flag_gems.swiglu(x.detach()),
        lambda x: (F.silu(x[:, :41]) * x[:, 41:]).detach(),
    ),
    aten(
        "mse_loss",
        lambda: [randn(41, 97), randn(41, 97)],
        lambda x, y: F.mse_loss(x.detach(), y.detach()),
        "mse_loss",
    ),
]

if __name__ == "__main__":
    main(KERNELS)
