"""Calls of torch_spline_conv 1.2.2, as its documentation and PyTorch Geometric make them."""

import torch
from torch_spline_conv import spline_conv

torch.manual_seed(0)
for degree, dims in ((1, 2), (2, 2), (3, 1)):
    x = torch.rand(4, 3, device="cuda", requires_grad=True)
    edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]], device="cuda")
    pseudo = torch.rand(6, dims, device="cuda", requires_grad=True)
    kernel_size = torch.full((dims,), 5, device="cuda")
    is_open = torch.ones(dims, dtype=torch.uint8, device="cuda")
    weight = torch.rand(5**dims, 3, 8, device="cuda", requires_grad=True)
    out = spline_conv(x, edges, pseudo, weight, kernel_size, is_open, degree)
    (out * torch.rand_like(out)).sum().backward()
    print(degree, dims, out.sum().item(), x.grad.sum().item(), weight.grad.sum().item())
