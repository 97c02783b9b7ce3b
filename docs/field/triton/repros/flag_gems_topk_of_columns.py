"""topk ignores strides: it reads the elements between those of the argument. Wrong values on any device."""

import flag_gems
import torch

x = torch.arange(20.0, device="cuda").reshape(2, 10)[:, ::2]
values, indices = flag_gems.topk(x, 2)
print(values.tolist(), "expected", torch.topk(x, 2).values.tolist())
assert torch.equal(values, x.gather(1, indices)), "the values are not those of the argument"
