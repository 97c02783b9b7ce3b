"""Features of five dims: the last is taken for more rows, and most of it never read."""

import torch
from torchvision.ops import ps_roi_align, ps_roi_pool, roi_align, roi_pool

x, rois = torch.rand(1, 1, 4, 4, 2), torch.tensor([[0.0, 0, 0, 2, 2]])
print([tuple(f(x, rois, 1).shape) for f in (roi_align, roi_pool, ps_roi_align, ps_roi_pool)])
