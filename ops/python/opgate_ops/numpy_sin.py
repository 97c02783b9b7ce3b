"""numpy_sin: an operator that writes into its argument, ``torch.ops.opgate_py.numpy_sin``."""

from __future__ import annotations

import numpy as np
import torch

from opgate_ops.registry import register

DTYPES = (torch.float16, torch.float32, torch.float64)


def _check(input: torch.Tensor, output: torch.Tensor) -> None:
    torch._check(
        input.dtype in DTYPES, lambda: f"numpy_sin: input must be Half, Float or Double, got {input.dtype}"
    )
    torch._check(
        input.dtype == output.dtype,
        lambda: f"numpy_sin: output must have the dtype of input, {input.dtype}, got {output.dtype}",
    )
    torch._check(
        input.shape == output.shape,
        lambda: (
            f"numpy_sin: output must have the sizes of input, {list(input.shape)}, got {list(output.shape)}"
        ),
    )


@register(mutates_args=("output",), fake=_check, device_types="cpu")
def numpy_sin(input: torch.Tensor, output: torch.Tensor) -> None:
    """Writes sin(input) to `output`, both Half, Float or Double of one shape, with any strides, on the CPU.

    Raises RuntimeError if dtypes or shapes differ, and NotImplementedError for tensors on other devices.
    """
    _check(input, output)
    np.sin(input.numpy(), out=output.numpy())
