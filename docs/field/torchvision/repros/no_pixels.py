"""Feature maps without pixels: roi_align and ps_roi_align read element 0 of nothing."""

import torch
from torchvision.ops import roi_align

print(roi_align(torch.zeros(1, 1, 0, 4), torch.tensor([[0.0, 0, 0, 2, 2]]), 1))
