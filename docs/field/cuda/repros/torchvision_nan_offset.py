"""An offset of NaN: as float64 it becomes the smallest index, and the kernel reads outside of the input."""

import torch
from torchvision.ops import deform_conv2d

x, weight = torch.ones(1, 1, 4, 4).double(), torch.ones(1, 1, 2, 2).double()
offset = torch.full((1, 8, 3, 3), float("nan")).double()
print(deform_conv2d(x.cuda(), offset.cuda(), weight.cuda()).sum().item())
