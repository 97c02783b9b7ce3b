"""The kernels of torchsort run in the default stream, whatever stream is current: 1, 2, 3 is expected."""

import torch
import torchsort

x = torch.tensor([[3.0, 1, 2]], device="cuda")
with torch.cuda.stream(torch.cuda.Stream()):
    print(torchsort.soft_sort(x + 0, regularization_strength=0.1).tolist())
