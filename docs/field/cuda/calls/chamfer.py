"""chamferdist 1.0.3: distances and gradients of its example, on CUDA beside the CPU."""

import torch
from chamferdist import ChamferDistance

torch.manual_seed(0)
source, target = torch.randn(2, 100, 3), torch.randn(2, 50, 3)
results = []
for device in ("cpu", "cuda"):
    inputs = [tensor.clone().to(device).requires_grad_() for tensor in (source, target)]
    distance = ChamferDistance()(*inputs, bidirectional=True)
    distance.backward()
    results.append([distance.detach().cpu(), *(tensor.grad.cpu() for tensor in inputs)])
for name, cpu, cuda in zip(("distance", "gradient 1", "gradient 2"), *results, strict=True):
    print(name, torch.allclose(cpu, cuda, rtol=1e-4, atol=1e-5))
