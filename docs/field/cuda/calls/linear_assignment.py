"""torch_linear_assignment 0.1.0: assignments on CUDA beside those of its CPU code."""

import torch
from torch_linear_assignment import _backend, batch_linear_assignment

torch.manual_seed(0)
for shape in ((3, 5, 5), (2, 4, 7), (1, 1, 3)):
    cost = torch.rand(shape)
    col4row, _ = _backend.batch_linear_assignment(cost.cuda())
    print(shape, torch.equal(col4row.cpu().long(), batch_linear_assignment(cost)))
