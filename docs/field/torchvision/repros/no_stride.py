"""A stride of 0 is divided by before it is checked."""

import torch
from torchvision.ops import deform_conv2d

deform_conv2d(torch.rand(1, 1, 4, 4), torch.rand(1, 8, 3, 3), torch.rand(1, 1, 2, 2), stride=0)
