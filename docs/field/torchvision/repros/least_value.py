"""The largest of these elements, and where it is."""

import torch
import torchvision  # noqa: F401 (its operators)

rois = torch.tensor([[0.0, 0, 0, 3, 3]], dtype=torch.float64)
for value in (float("-inf"), -1e300, float("nan")):
    x = torch.full((1, 1, 4, 4), value, dtype=torch.float64)
    print(value, [y.item() for y in torch.ops.torchvision.roi_pool(x, rois, 1.0, 1, 1)])
