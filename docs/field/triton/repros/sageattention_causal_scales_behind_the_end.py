"""A causal block of 128 queries takes two blocks of 64 keys, also if the sequence has 41.

It loads a second scale, which is past the end for the last head.
"""

import torch
from sageattention.core import sageattn

q, k, v = (torch.randn(1, 2, 41, 64, device="cuda").half() for _ in range(3))
print(sageattn(q, k, v, is_causal=True).isnan().sum().item(), "elements are no numbers")
