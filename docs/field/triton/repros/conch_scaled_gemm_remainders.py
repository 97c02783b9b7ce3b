"""scaled_gemm loads b without a mask, and a with a mask for its rows alone.

With sizes that are no multiples of the blocks (64), it reads past the matrices, and what it reads
after the last column of a is multiplied and added.
"""

import torch
from conch.ops.quantization.gemm import scaled_gemm

a, b = (torch.ones(shape, dtype=torch.int8, device="cuda") for shape in ((41, 97), (97, 64)))
scale = torch.ones(1, 1, device="cuda")
print(scaled_gemm(a, b, scale, scale, torch.float32).cpu().unique(), "expected", 97)
