"""A region of NaN, where the number of points is given: the same in ps_roi_align."""

import torch
from torchvision.ops import roi_align

nan = float("nan")
roi_align(torch.ones(1, 1, 4, 4), torch.tensor([[0, nan, nan, nan, nan]]), 1, sampling_ratio=2)
