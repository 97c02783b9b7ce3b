"""spatial_correlation_sampler 0.5.0: values and gradients on CUDA beside those of its CPU kernels."""

import torch
from spatial_correlation_sampler import spatial_correlation_sample

torch.manual_seed(0)
for kernel, patch, stride, padding in ((1, 3, 1, 0), (3, 5, 2, 1)):
    results = []
    first, second = torch.rand(2, 4, 9, 10), torch.rand(2, 4, 9, 10)
    for device in ("cpu", "cuda"):
        inputs = [tensor.clone().to(device).requires_grad_() for tensor in (first, second)]
        out = spatial_correlation_sample(*inputs, kernel, patch, stride, padding)
        out.sum().backward()
        results.append([out.detach().cpu(), *(tensor.grad.cpu() for tensor in inputs)])
    for name, cpu, cuda in zip(("value", "gradient 1", "gradient 2"), *results, strict=True):
        print(kernel, patch, stride, padding, name, torch.allclose(cpu, cuda, rtol=1e-4, atol=1e-5))
