"""An output size of 0: a remainder by 0."""

import torch
from torchvision.ops import ps_roi_pool

ps_roi_pool(torch.zeros(1, 1, 4, 4), torch.tensor([[0.0, 0, 0, 2, 2]]), 0)
