"""sageattn without a causal mask counts the keys that fill the last block of 64 as keys with the score 0."""

import torch
from sageattention.core import sageattn

q, k, v = (torch.randn(1, 1, 70, 64).half() for _ in range(3))
got = sageattn(q.cuda(), k.cuda(), v.cuda()).cpu().float()
q, k, v = q.float(), (k - k.mean(2, keepdim=True)).float(), v.float()
filled_k, filled_v = (torch.cat([x, torch.zeros(1, 1, 58, 64)], 2) for x in (k, v))
for what, keys, values in (("70 keys", k, v), ("70 keys and 58 of zeros", filled_k, filled_v)):
    want = torch.nn.functional.scaled_dot_product_attention(q, keys, values)
    print(f"beside plain attention of {what}: off by {(got - want).abs().max().item():.3f}")
