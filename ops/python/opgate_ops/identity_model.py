"""IdentityModel: native layers around the op and its class, a small model that deploys both."""

import torch

from opgate_ops.identity_conv import IdentityConv, identity_conv


class IdentityModel(torch.nn.Module):
    """Native convolution, class, op, native convolution: four layers that change no value.

    Takes a batch [N, C, H, W] of the weights' dtype with C equal to `channels` (1x3x224x224 as
    published) and gives one of the same shape and dtype, bitwise equal to it. One exception is the
    native convolution's: it adds to a zero, so -0 comes out as 0.

    Raises RuntimeError if `channels` is less than 1.
    """

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.identity = IdentityConv(channels)  # first, for its message on a bad count
        self.before = _unit_convolution(channels)
        self.after = _unit_convolution(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The input again, bit for bit but for the sign of zero."""
        x = self.before(x)
        x = self.identity.forward(x)
        x = identity_conv(x)
        return self.after(x)


def _unit_convolution(channels: int) -> torch.nn.Conv2d:
    """A frozen depthwise 1x1 convolution that multiplies every value by one."""
    convolution = torch.nn.Conv2d(channels, channels, kernel_size=1, groups=channels, bias=False)
    torch.nn.init.ones_(convolution.weight)
    return convolution.requires_grad_(False)
