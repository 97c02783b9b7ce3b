"""`basis` is read as if it were dense."""

import torch
import torch_spline_conv  # noqa: F401, it registers the operator

x, weight, basis = torch.ones(6, 3).cuda(), torch.ones(5, 3, 8).cuda(), torch.rand(4, 6).cuda().t()
index = torch.zeros(6, 4).long().cuda()
function = torch.ops.torch_spline_conv.spline_weighting
print((function(x, weight, basis, index) == function(x, weight, basis.contiguous(), index)).all().item())
