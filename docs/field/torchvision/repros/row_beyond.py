"""The region has rows 2 to 58; row 59 is below it."""

import torch
from torchvision.ops import roi_pool

x = torch.zeros(1, 1, 64, 64)
x[0, 0, 59] = 1
print(roi_pool(x, torch.tensor([[0.0, 0, 2, 56, 58]]), 7)[0, 0, :, 0])
