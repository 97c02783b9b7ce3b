"""liger-kernel 0.8.5 beside plain torch, at sizes and within tolerances like those of its own tests.

python liger.py [NAME...]
"""

from __future__ import annotations

import liger_kernel.ops as liger
import torch
import torch.nn.functional as F
from beside_cpu import Kernel, main


def randn(*shape: int) -> torch.Tensor:
    """Normally distributed."""
    return torch.randn(*shape)


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """For the last dim."""
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def jsd(log_q: torch.Tensor, log_p: torch.Tensor) -> torch.Tensor:
    """The mean over the rows, with equal weights."""
    q, p = log_q.exp(), log_p.exp()
    log_m = (0.5 * (q + p)).log()
    return 0.5 * ((p * (log_p - log_m)).sum() + (q * (log_q - log_m)).sum()) / log_q.shape[0]


def group_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Three groups."""
    return F.group_norm(x, 3, weight, bias, 1e-6)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Halves of each head."""
    half = x.shape[-1] // 2
    return x * cos[:, None] + torch.cat([-x[..., half:], x[..., :half]], -1) * sin[:, None]


def rotate_pairs(x: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Neighbours of each head."""
    a, b = x[..., 0::2], x[..., 1::2]
    c, s = (frequencies[None, :, None, :, i] for i in (0, 1))
    return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)


def of_sections(angles: torch.Tensor) -> torch.Tensor:
    """Each section of a head has angles of its own."""
    parts = [part[i] for i, part in enumerate(angles.split([4, 6, 6], -1))]
    return torch.cat(parts * 2, -1)


def sparsemax(x: torch.Tensor) -> torch.Tensor:
    """By sorting."""
    values = x.sort(-1, descending=True).values
    sums = values.cumsum(-1) - 1
    count = (values * torch.arange(1, x.shape[-1] + 1) > sums).sum(-1, keepdim=True)
    return F.relu(x - sums.gather(-1, count - 1) / count)


def attention_of_residuals(v: torch.Tensor, query: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
    """Weights of the layers for each token."""
    weights = (rms_norm(v, norm) * query).sum(-1).softmax(0)
    return (weights[..., None] * v).sum(0)


def grpo(
    x: torch.Tensor, old: torch.Tensor, ref: torch.Tensor, ids: torch.Tensor, advantage: torch.Tensor
) -> torch.Tensor:
    """The loss of each token."""
    logp = (x[:, :-1] / 0.9).log_softmax(-1).gather(-1, ids[..., None])[..., 0]
    ratio = (logp - old).exp()
    gain = torch.minimum(ratio * advantage[:, None], ratio.clamp(0.8, 1.4) * advantage[:, None])
    return 0.04 * ((ref - logp).exp() - (ref - logp) - 1) - gain


def multi_token_attention(scores: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """A convolution of probabilities."""
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    probabilities = scores.masked_fill(later, -1e9).softmax(-1)
    return F.conv2d(probabilities, weight, bias, padding=1).masked_fill(later, 0)


def neighborhood_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Seven neighbours."""
    at = torch.arange(q.shape[-2])
    far = (at[:, None] - at).abs() > 3
    return (q @ k.mT / 4).masked_fill(far, -torch.inf).softmax(-1) @ v


def experts(tokens: int, count: int) -> torch.Tensor:
    """Two different ones for each token."""
    return torch.stack([torch.randperm(count)[:2] for _ in range(tokens)]).int()


def moe(
    x: torch.Tensor, gate_up: torch.Tensor, down: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """One expert after the other."""
    out = torch.zeros_like(x)
    for k in range(chosen.shape[1]):
        gate, up = torch.einsum("th,tih->ti", x, gate_up[chosen[:, k].long()]).chunk(2, -1)
        one = torch.einsum("ti,thi->th", F.silu(gate) * up, down[chosen[:, k].long()])
        out = out + weights[:, k, None] * one
    return out


KERNELS = [
    Kernel(
        "rms_norm",
        lambda: [randn(2, 9, 41), randn(41)],
        lambda x, w: liger.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False, None),
        rms_norm,
    ),
    Kernel(
        "rms_norm_rows_in_block",
        lambda: [randn(40, 64), randn(64)],
        lambda x, w: liger.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "gemma", True, False),
        rms_norm,
    ),
    Kernel(
        "layer_norm",
        lambda: [randn(2, 8, 64), randn(64), randn(64)],
        lambda x, w, b: liger.LigerLayerNormFunction.apply(x, w, b, 1e-6),
        lambda x, w, b: F.layer_norm(x, (64,), w, b, 1e-6),
    ),
    Kernel(
        "group_norm",
        lambda: [randn(2, 6, 40), randn(6), randn(6)],
        lambda x, w, b: liger.LigerGroupNormFunction.apply(x, w, b, 6, 3, 1e-6),
        group_norm,
    ),
    Kernel(
        "cross_entropy",
        lambda: [randn(24, 97), torch.randint(0, 97, (24,))],
        lambda x, y: liger.LigerCrossEntropyFunction.apply(x, y, None)[0],
        lambda x, y: F.cross_entropy(x, y),
    ),
    Kernel(
        "cross_entropy_smoothed",
        lambda: [randn(24, 97) * 5, torch.randint(0, 97, (24,))],
        lambda x, y: liger.LigerCrossEntropyFunction.apply(x, y, None, 0, 0.0, 0.1, "sum", 30.0)[0],
        lambda x, y: F.cross_entropy(
            30 * torch.tanh(x / 30), y, ignore_index=0, label_smoothing=0.1, reduction="sum"
        ),
    ),
    Kernel(
        "swiglu",
        lambda: [randn(2, 8, 41), randn(2, 8, 41)],
        liger.LigerSiLUMulFunction.apply,
        lambda a, b: F.silu(a) * b,
    ),
    Kernel(
        "geglu",
        lambda: [randn(2, 8, 41), randn(2, 8, 41)],
        liger.LigerGELUMulFunction.apply,
        lambda a, b: F.gelu(a, approximate="tanh") * b,
    ),
    Kernel(
        "rope",
        lambda: [randn(2, 4, 16, 32), randn(2, 2, 16, 32), randn(1, 16, 16), randn(1, 16, 16)],
        lambda q, k, c, s: liger.LigerRopeFunction.apply(
            q, k, torch.cat([c, c], -1).detach(), torch.cat([s, s], -1).detach()
        ),
        lambda q, k, c, s: tuple(
            rotate(x, torch.cat([c, c], -1).detach(), torch.cat([s, s], -1).detach()) for x in (q, k)
        ),
    ),
    Kernel(
        "kl_div",
        lambda: [randn(16, 97).log_softmax(-1), randn(16, 97).softmax(-1)],
        lambda x, y: liger.LigerKLDivLossFunction.apply(x, y.detach(), "batchmean", False),
        lambda x, y: F.kl_div(x, y.detach(), reduction="batchmean"),
    ),
    Kernel(
        "jsd",
        lambda: [randn(16, 97).log_softmax(-1), randn(16, 97).log_softmax(-1)],
        lambda x, y: liger.LigerJSDFunction.apply(x, y.detach(), None, 0.5, -100),
        lambda x, y: jsd(x, y.detach()),
    ),
    Kernel("softmax", lambda: [randn(2, 8, 97)], liger.LigerSoftmaxFunction.apply, lambda x: x.softmax(-1)),
    Kernel(
        "sparsemax",
        lambda: [randn(8, 41)],
        lambda x: liger.LigerSparsemaxFunction.apply(x, -1),
        sparsemax,
    ),
    Kernel(
        "relu_squared",
        lambda: [randn(2, 8, 41)],
        liger.LigerReLUSquaredFunction.apply,
        lambda x: F.relu(x).square(),
    ),
    Kernel(
        "tvd",
        lambda: [randn(16, 97).softmax(-1), randn(16, 97).softmax(-1)],
        lambda p, q: liger.LigerTVDLossFunction.apply(p, q.detach(), None, "batchmean"),
        lambda p, q: 0.5 * (p - q.detach()).abs().sum() / p.shape[0],
    ),
    Kernel(
        "fused_linear_cross_entropy",
        lambda: [randn(24, 32), randn(97, 32), torch.randint(0, 97, (24,))],
        lambda x, w, y: liger.LigerFusedLinearCrossEntropyFunction.apply(x, w, y)[0],
        lambda x, w, y: F.cross_entropy(x @ w.T, y),
    ),
    Kernel(
        "fused_linear_jsd",
        lambda: [randn(24, 32), randn(97, 32), randn(24, 48), randn(97, 48)],
        lambda x, w, y, v: liger.LigerFusedLinearJSDFunction.apply(x, w, y.detach(), v.detach()),
        lambda x, w, y, v: jsd((x @ w.T).log_softmax(-1), (y @ v.T).log_softmax(-1).detach()),
    ),
    Kernel(
        "fused_linear_kl_div",
        lambda: [randn(24, 32), randn(97, 32), randn(24, 97).softmax(-1)],
        lambda x, w, y: liger.LigerFusedLinearKLDivFunction.apply(x, w, y.detach()),
        lambda x, w, y: F.kl_div((x @ w.T).log_softmax(-1), y.detach(), reduction="batchmean"),
    ),
    Kernel(
        "fused_add_rms_norm",
        lambda: [randn(2, 9, 41), randn(2, 9, 41), randn(41)],
        lambda x, r, w: liger.LigerFusedAddRMSNormFunction.apply(x, r, w, 1e-6),
        lambda x, r, w: (rms_norm(x + r, w), x + r),
    ),
    Kernel(
        "modulated_rms_norm",
        lambda: [randn(2, 9, 41), randn(41), randn(2, 41), randn(2, 41)],
        lambda x, w, scale, shift: liger.LigerModulatedRMSNormFunction.apply(x, w, scale, shift, 1e-6),
        lambda x, w, scale, shift: (1 + scale[:, None]) * rms_norm(x, w) + shift[:, None],
    ),
    Kernel(
        "dyt",
        lambda: [randn(2, 8, 41), randn(1), randn(41), randn(41)],
        liger.LigerDyTFunction.apply,
        lambda x, alpha, gamma, beta: gamma * torch.tanh(alpha * x) + beta,
    ),
    Kernel(
        "poly_norm",
        lambda: [randn(2, 8, 41), randn(3), randn(())],
        lambda x, w, b: liger.LigerPolyNormFunction.apply(x, w, b, 1e-6, False),
        lambda x, w, b: sum(w[i] * F.rms_norm(x ** (3 - i), (41,), None, 1e-6) for i in range(3)) + b,
    ),
    Kernel(
        "embedding",
        lambda: [randn(50, 48), torch.randint(0, 50, (3, 7))],
        lambda table, at: liger.LigerEmbeddingFunction.apply(table, at),
        lambda table, at: F.embedding(at, table),
    ),
    Kernel(
        "gate_up_swiglu",
        lambda: [randn(2, 8, 82)],
        lambda y: liger.LigerFusedGateUpSiLUMulFunction.apply(y),
        lambda y: F.silu(y[..., :41]) * y[..., 41:],
    ),
    Kernel(
        "attn_res",
        lambda: [randn(4, 2, 8, 41), randn(41), randn(41)],
        lambda v, query, norm: liger.LigerAttnResFunction.apply(v, query, norm, 1e-6),
        attention_of_residuals,
    ),
    Kernel(
        "llama4_rope",
        lambda: [randn(2, 16, 4, 32), randn(2, 16, 2, 32), randn(16, 16, 2)],
        lambda q, k, f: liger.LigerLlama4RopeFunction.apply(q, k, torch.view_as_complex(f.detach())),
        lambda q, k, f: (rotate_pairs(q, f.detach()), rotate_pairs(k, f.detach())),
    ),
    Kernel(
        "qwen2vl_mrope",
        lambda: [randn(2, 4, 16, 32), randn(2, 2, 16, 32), randn(3, 2, 16, 16), randn(3, 2, 16, 16)],
        lambda q, k, c, s: liger.LigerQwen2VLMRopeFunction.apply(
            q, k, torch.cat([c, c], -1).detach(), torch.cat([s, s], -1).detach(), [4, 6, 6]
        ),
        lambda q, k, c, s: tuple(rotate(x, of_sections(c.detach()), of_sections(s.detach())) for x in (q, k)),
    ),
    Kernel(
        "cross_entropy_and_tvd",
        lambda: [randn(16, 97), randn(16, 97), torch.randint(0, 97, (16,))],
        lambda x, t, y: liger.LigerFusedCETVDFunction.apply(x, t.detach(), y),
        lambda x, t, y: (
            F.cross_entropy(x, y, reduction="none"),
            0.5 * (x.softmax(-1) - t.detach().softmax(-1)).abs().sum(-1),
        ),
    ),
    Kernel(
        "vocab_parallel_cross_entropy",
        lambda: [randn(6, 4, 97), torch.randint(0, 97, (6, 4))],
        lambda x, y: liger.LigerVocabParallelCEFunction.apply(x, y, None, -100, 0.0, "nemo", "none"),
        lambda x, y: F.cross_entropy(x.flatten(0, 1), y.flatten(), reduction="none").view(6, 4),
    ),
    Kernel(
        "grpo",
        lambda: [randn(3, 9, 97), randn(3, 8) - 4, randn(3, 8) - 4, torch.randint(0, 97, (3, 8)), randn(3)],
        lambda x, old, ref, ids, advantage: liger.GrpoLossFunction.apply(
            x,
            old.detach(),
            ref.detach(),
            ids,
            advantage.detach(),
            None,
            0.9,
            0.04,
            0.2,
            0.4,
            False,
            "grpo",
            None,
            False,
        )[0],
        lambda x, old, ref, ids, advantage: grpo(x, old.detach(), ref.detach(), ids, advantage.detach()),
    ),
    Kernel(
        "multi_token_attention",
        lambda: [randn(2, 4, 16, 16), randn(4, 4, 3, 3), randn(4)],
        lambda scores, w, b: liger.LigerMultiTokenAttentionFunction.apply(scores, w, b, 1, 1, 1, 1, False),
        multi_token_attention,
    ),
    Kernel(
        "neighborhood_attention",
        lambda: [randn(2, 2, 24, 16), randn(2, 2, 24, 16), randn(2, 2, 24, 16)],
        lambda q, k, v: liger.LigerFusedNeighborhoodAttentionFunction.apply(q, k, v, 7, 1, None),
        neighborhood_attention,
        rtol=5e-3,
        atol=5e-3,
    ),
    Kernel(
        "moe",
        lambda: [
            randn(24, 64),
            randn(4, 96, 64) / 8,
            randn(4, 64, 48) / 8,
            experts(24, 4),
            randn(24, 2).softmax(-1),
        ],
        liger.LigerFusedMoEFunction.apply,
        moe,
        rtol=1e-2,
        atol=1e-2,
    ),
    Kernel(
        "mhc_pre",
        lambda: [randn(12, 4, 48), randn(12, 4)],
        liger.LigerMHCPreFunction.apply,
        lambda x, h: (x * h[..., None]).sum(-2),
    ),
    Kernel(
        "mhc_post_res",
        lambda: [randn(12, 4, 48), randn(12, 48), randn(12, 4), randn(12, 4, 4)],
        liger.LigerMHCPostResFunction.apply,
        lambda x, f, post, res: torch.einsum("noi,nic->noc", res, x) + post[..., None] * f[:, None],
    ),
]

if __name__ == "__main__":
    main(KERNELS)
