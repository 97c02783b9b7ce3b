"""The backward of scaled_dot_product_attention loads the output's gradient without a mask.

The masked load is a comment. Rows after the last of a sequence belong to the next head, and for the
last head to nothing.
"""

import flag_gems
import torch

q, k, v = (torch.randn(1, 2, 70, 64, device="cuda", requires_grad=True) for _ in range(3))
out = flag_gems.scaled_dot_product_attention(q, k, v, is_causal=True)
out.backward(torch.ones_like(out))
torch.cuda.synchronize()
