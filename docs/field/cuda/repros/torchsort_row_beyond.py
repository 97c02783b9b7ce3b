"""The gradient of soft_sort asks `sizes[b][size] > 0 && size < n`: for n values that all differ it reads sizes[b][n]."""

import torch
import torchsort

x = torch.tensor([[3.0, 1, 2]], device="cuda", requires_grad=True)
torchsort.soft_sort(x, regularization_strength=0.1).sum().backward()
print(x.grad.tolist())
