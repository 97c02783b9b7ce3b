"""A region that does not touch the features, whose first pixel is NaN."""

import torch
from torchvision.ops import ps_roi_align, roi_align

x = torch.zeros(1, 1, 4, 4)
x[0, 0, 0, 0] = float("nan")
print([f(x, torch.tensor([[0.0, 10, 10, 12, 12]]), 1).item() for f in (roi_align, ps_roi_align)])
