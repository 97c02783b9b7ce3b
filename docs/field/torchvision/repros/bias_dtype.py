"""A bias of float64 beside tensors of float32: what is returned, and what the fake kernel says."""

import torch
from torchvision.ops import deform_conv2d

args = torch.rand(1, 1, 4, 4), torch.zeros(1, 18, 2, 2), torch.rand(1, 1, 3, 3), torch.zeros(1).double()
print(deform_conv2d(*args).dtype, deform_conv2d(*[tensor.to("meta") for tensor in args]).dtype)
torch.compile(deform_conv2d, fullgraph=True)(*args)
