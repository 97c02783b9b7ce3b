"""identity_conv: the operator, the TorchBind class, and the fake class that torch.export traces with."""

from typing import Self

import torch

IdentityConv = torch.classes.opgate_ops.IdentityConv


def identity_conv(x: torch.Tensor) -> torch.Tensor:
    """A new tensor with the bits of `x`, NaN payloads included.

    `x` is Half, BFloat16, Float or Double, of any shape and strides, on the CPU or a CUDA device.
    Shape, strides, dtype and device of the result are those of ``torch.empty_like(x)``. The operator is
    not differentiable.

    Raises RuntimeError on any other dtype.
    """
    return torch.ops.opgate_ops.identity_conv.default(x)


@torch._library.register_fake_class("opgate_ops::IdentityConv")
class FakeIdentityConv:
    """Replaces an `IdentityConv` while a program is traced, and behaves as that would."""

    def __init__(self, channels: int) -> None:
        self.channels = channels

    @classmethod
    def __obj_unflatten__(cls, flattened: tuple[tuple[str, int], ...]) -> Self:
        """The fake of the object whose ``__obj_flatten__`` gave `flattened`."""
        return cls(**dict(flattened))

    def get_channels(self) -> int:
        """Number of channels of the images that it takes."""
        return self.channels

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Metadata of the real result; `x` is [C, H, W] or [N, C, H, W] with C equal to `channels`.

        Raises RuntimeError if the real class would.
        """
        torch._check(
            x.dim() in (3, 4),
            lambda: f"IdentityConv.forward: x must be [C, H, W] or [N, C, H, W], got {x.dim()} dimensions",
        )
        torch._check(
            x.shape[-3] == self.channels,
            lambda: (
                f"IdentityConv.forward: x must have {self.channels} channels "
                f"in dimension {x.dim() - 3}, got {x.shape[-3]}"
            ),
        )
        return torch.ops.opgate_ops.identity_conv.default(x)
