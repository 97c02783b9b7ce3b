"""batch_norm without running statistics takes its input in their place.

The kernel stores new ones there.
"""

import flag_gems
import torch

x = torch.randn(5, 7, 11, device="cuda")
before = x.clone()
flag_gems.batch_norm(x, training=True)
changed = (x != before).nonzero().tolist()
assert not changed, f"the input has changed at {changed}"
