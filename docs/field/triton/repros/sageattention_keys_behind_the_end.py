"""sageattn without a causal mask counts the keys that fill the last block of 64 as keys with the score 0."""

import torch
from sageattention.core import sageattn

q, k, v = (torch.randn(1, 1, 70, 64).half() for _ in range(3))
got = sageattn(q.cuda(), k.cuda(), v.cuda()).cpu().float()
k = k - k.mean(2, keepdim=True)


def attention(k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """For the same queries."""
    return torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float())


fill = torch.zeros(1, 1, 58, 64)
for what, want in (
    ("70 keys", attention(k, v)),
    ("70 keys and 58 of zeros", attention(torch.cat([k, fill], 2), torch.cat([v, fill], 2))),
):
    print(f"beside plain attention of {what}: off by {(got - want).abs().max().item():.3f}")
