"""The gradient of soft_sort reads sizes[b][n] of n sizes, where all n values differ."""

import torch
import torchsort

x = torch.tensor([[3.0, 1, 2]], device="cuda", requires_grad=True)
torchsort.soft_sort(x, regularization_strength=0.1).sum().backward()
print(x.grad.tolist())
