"""late-interaction-kernels 0.4.5 beside plain torch.

python late_interaction.py [NAME...]
"""

from __future__ import annotations

import functools
import math
from itertools import pairwise

import late_interaction_kernels as lik
import torch
import torch.nn.functional as F
from beside_cpu import Kernel, main
from late_interaction_kernels import reference as lik_reference
from late_interaction_kernels.fp8 import maxsim_inference_fp8, quantize_fp8_per_token
from late_interaction_kernels.fused_head import maxsim_from_hidden
from late_interaction_kernels.padded import maxsim_padded
from late_interaction_kernels.plaid import maxsim_residual, maxsim_residual_varlen, plaid_approx_score
from late_interaction_kernels.score_pairs import score_pairs_packed

randn = torch.randn


def unit(*shape: int) -> torch.Tensor:
    """Normally distributed, with rows of length 1."""
    return F.normalize(torch.randn(*shape), dim=-1)


def lengths(*sizes: int) -> torch.Tensor:
    """Where each sequence begins, and the end."""
    return torch.tensor([0, *sizes], dtype=torch.int32).cumsum(0).int()


def maxsim_reference(q: torch.Tensor, d: torch.Tensor, normalize: bool = False) -> torch.Tensor:
    """Each query with each document: the sum over the query's tokens of the largest product."""
    if normalize:
        q, d = F.normalize(q, dim=-1), F.normalize(d, dim=-1)
    return torch.einsum("ild,jtd->ijlt", q, d).amax(-1).sum(-1)


def masked_maxsim_reference(
    q: torch.Tensor, d: torch.Tensor, qm: torch.Tensor, dm: torch.Tensor
) -> torch.Tensor:
    """The same, without the tokens that the masks leave out."""
    s = torch.einsum("ild,jtd->ijlt", q, d).masked_fill(~dm.bool()[None, :, None], -math.inf).amax(-1)
    return (s * qm[:, None]).sum(-1)


def kd_reference(q: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
    """Each query with its own documents."""
    return torch.einsum("ild,iktd->iklt", q, d).amax(-1).sum(-1)


def varlen_reference(q: torch.Tensor, d: torch.Tensor, cq: torch.Tensor, cd: torch.Tensor) -> torch.Tensor:
    """Each query with each document, of different lengths."""
    return torch.stack(
        [torch.stack([(q[a:b] @ d[e:f].T).amax(-1).sum() for e, f in pairwise(cd)]) for a, b in pairwise(cq)]
    )


def pairs_reference(
    q: torch.Tensor,
    d: torch.Tensor,
    cq: torch.Tensor,
    cd: torch.Tensor,
    pq: torch.Tensor,
    pd: torch.Tensor,
) -> torch.Tensor:
    """The pairs of queries and documents that the last two name."""
    return varlen_reference(q, d, cq, cd)[pq.long(), pd.long()]


def plaid_inputs() -> list[torch.Tensor]:
    """Documents as codes of centroids, and residuals of four bits."""
    return [
        randn(2, 11, 32),
        torch.randint(0, 9, (3, 41)),
        torch.randint(0, 256, (3, 41, 16)).to(torch.uint8),
        torch.tensor([41, 7, 23]),
        randn(9, 32),
        randn(16) / 10,
    ]


def residual(
    q: torch.Tensor,
    codes: torch.Tensor,
    residuals: torch.Tensor,
    n: torch.Tensor,
    centroids: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """Documents of one length each, padded."""
    return maxsim_residual(q, codes, residuals, n, centroids.detach(), weights.detach(), 4)


def residual_reference(
    q: torch.Tensor,
    codes: torch.Tensor,
    residuals: torch.Tensor,
    n: torch.Tensor,
    centroids: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """That of the library."""
    return lik_reference.maxsim_residual_reference(
        q, codes, residuals, n, centroids.detach(), weights.detach(), 4
    )


def residual_varlen(
    q: torch.Tensor,
    codes: torch.Tensor,
    residuals: torch.Tensor,
    n: torch.Tensor,
    centroids: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """The same documents one after the other."""
    keep = [slice(0, m) for m in n.tolist()]
    flat = (
        torch.cat([c[k] for c, k in zip(codes, keep, strict=True)]),
        torch.cat([r[k] for r, k in zip(residuals, keep, strict=True)]),
    )
    cu = lengths(*n.tolist()).to(q.device)
    return maxsim_residual_varlen(q.detach(), *flat, cu, centroids.detach(), weights.detach(), 4)


def fp8(q: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
    """Both rounded to eight bits, with a scale for each token."""
    (q8, sq), (d8, sd) = quantize_fp8_per_token(q.detach()), quantize_fp8_per_token(d.detach())
    if q.is_cuda:
        return maxsim_inference_fp8(q8, d8, scale_Q=sq, scale_D=sd)
    return maxsim_reference(q8.float() * sq[..., None], d8.float() * sd[..., None])


def from_hidden(q: torch.Tensor, h: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The documents are projected and normalized first."""
    return maxsim_from_hidden(q, h, w, b)


def from_hidden_reference(q: torch.Tensor, h: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in two steps."""
    return maxsim_reference(q, F.normalize(F.linear(h, w, b), dim=-1))


MAX = {"rtol": 1e-2, "atol": 2e-2}
KERNELS = [
    Kernel("maxsim", lambda: [unit(2, 11, 48), unit(3, 41, 48)], lik.maxsim, maxsim_reference, **MAX),
    Kernel(
        "maxsim_normalize",
        lambda: [randn(2, 11, 48), randn(3, 41, 48)],
        functools.partial(lik.maxsim, normalize=True),
        functools.partial(maxsim_reference, normalize=True),
        **MAX,
    ),
    Kernel(
        "maxsim_lowmem",
        lambda: [unit(2, 11, 48), unit(3, 41, 48)],
        functools.partial(lik.maxsim, backward="lowmem"),
        maxsim_reference,
        **MAX,
    ),
    Kernel(
        "maxsim_unified",
        lambda: [unit(2, 11, 48), unit(3, 41, 48)],
        functools.partial(lik.maxsim, backward="unified"),
        maxsim_reference,
        **MAX,
    ),
    Kernel(
        "maxsim_masked",
        lambda: [
            unit(2, 11, 48),
            unit(3, 41, 48),
            torch.arange(11).expand(2, 11) < 7,
            torch.arange(41).expand(3, 41) < torch.tensor([[41], [3], [20]]),
        ],
        lik.maxsim,
        masked_maxsim_reference,
        **MAX,
    ),
    Kernel(
        "maxsim_transposed",
        lambda: [unit(11, 2, 48).transpose(0, 1), unit(41, 3, 48).transpose(0, 1)],
        lik.maxsim,
        maxsim_reference,
        **MAX,
    ),
    Kernel("maxsim_kd", lambda: [unit(2, 11, 48), unit(2, 3, 41, 48)], lik.maxsim, kd_reference, **MAX),
    Kernel(
        "maxsim_pairs",
        lambda: [unit(3, 11, 48), unit(3, 41, 48)],
        lik.maxsim_pairs,
        lambda q, d: kd_reference(q, d[:, None])[:, 0],
        **MAX,
    ),
    Kernel(
        "maxsim_varlen",
        lambda: [unit(20, 48), unit(70, 48), lengths(9, 11), lengths(41, 5, 24)],
        lik.maxsim_varlen,
        varlen_reference,
        **MAX,
    ),
    Kernel(
        "maxsim_varlen_sliced",
        lambda: [unit(40, 48), unit(140, 48), lengths(9, 11), lengths(41, 5, 24)],
        lambda q, d, *c: lik.maxsim_varlen(q[::2], d[::2], *c),
        lambda q, d, *c: varlen_reference(q[::2], d[::2], *c),
        **MAX,
    ),
    Kernel(
        "score_pairs",
        lambda: [
            unit(20, 48),
            unit(70, 48),
            lengths(9, 11),
            lengths(41, 5, 24),
            torch.tensor([0, 1, 1, 0]),
            torch.tensor([2, 0, 1, 0]),
        ],
        score_pairs_packed,
        pairs_reference,
        **MAX,
    ),
    Kernel(
        "maxsim_padded",
        lambda: [
            unit(2, 11, 48),
            unit(2, 3, 41, 48),
            torch.tensor([11, 4]),
            torch.tensor([[41, 5, 20], [1, 33, 41]]),
        ],
        maxsim_padded,
        lik_reference.maxsim_padded_reference,
        **MAX,
    ),
    Kernel(
        "maxsim_from_hidden",
        lambda: [unit(2, 11, 48), randn(3, 41, 97), randn(48, 97) / 10, randn(48)],
        from_hidden,
        from_hidden_reference,
        **MAX,
    ),
    Kernel("maxsim_residual", plaid_inputs, residual, residual_reference, **MAX),
    Kernel(
        "maxsim_residual_varlen",
        plaid_inputs,
        residual_varlen,
        lambda *a: residual_reference(*a).detach(),
        **MAX,
    ),
    Kernel(
        "plaid_approx_score",
        lambda: [randn(9, 11), torch.randint(0, 9, (3, 41)), torch.tensor([41, 7, 23])],
        lambda s, c, n: plaid_approx_score(s.detach(), c, n),
        lambda s, c, n: lik_reference.plaid_approx_score_reference(s.detach(), c, n),
    ),
    Kernel("maxsim_fp8", lambda: [unit(2, 11, 64), unit(3, 41, 64)], fp8, fp8, **MAX),
]

if __name__ == "__main__":
    main(KERNELS)
