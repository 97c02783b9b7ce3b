"""The kernels of torchsort run in the default stream, whatever stream is current: no value is near 1, 2 or 3."""

import torch
import torchsort

x = torch.tensor([[3.0, 1, 2]], device="cuda")
with torch.cuda.stream(torch.cuda.Stream()):
    print(torchsort.soft_sort(x + 0, regularization_strength=0.1).tolist())
