"""The gradient of a sum has strides of 0: the backward reads it as if it were dense, and past its end."""

import torch
import torch_spline_conv  # noqa: F401, it registers the operator

x, weight, basis, index = torch.ones(6, 3), torch.ones(5, 3, 8), torch.ones(6, 4), torch.zeros(6, 4).long()
x = x.cuda().requires_grad_()
out = torch.ops.torch_spline_conv.spline_weighting(x, weight.cuda(), basis.cuda(), index.cuda())
out.sum().backward()
print(x.grad.unique().tolist(), "instead of [32.0]")
