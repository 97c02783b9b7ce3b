"""The backward returns a matrix, whatever the dims of the argument; the forward takes any."""

import torch
from liger_kernel.ops import LigerFusedGateUpSiLUMulFunction

y = torch.randn(2, 8, 82, device="cuda", requires_grad=True)
LigerFusedGateUpSiLUMulFunction.apply(y).sum().backward()
