"""Offsets of NaN."""

import torch
from torchvision.ops import deform_conv2d

deform_conv2d(torch.ones(1, 1, 4, 4), torch.full((1, 8, 3, 3), float("nan")), torch.ones(1, 1, 2, 2))
