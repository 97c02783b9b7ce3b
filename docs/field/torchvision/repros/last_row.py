"""The value is the mean of the upper left 3 x 3 pixels, the gradient that of the mean of all 16."""

import torch
from torchvision.ops import ps_roi_pool

x = torch.arange(16.0).view(1, 1, 4, 4).requires_grad_()
y = ps_roi_pool(x, torch.tensor([[0.0, 0, 0, 4, 4]]), 1)
y.sum().backward()
print(y.item(), x.mean().item(), x[..., :3, :3].mean().item(), x.grad.unique())
