"""A weight of float64 beside tensors of float32: what is said."""

import torch
from torchvision.ops import deform_conv2d

deform_conv2d(torch.rand(1, 1, 4, 4), torch.zeros(1, 18, 2, 2), torch.rand(1, 1, 3, 3).double())
