"""torchvision::deform_conv2d: a convolution whose points are moved by offsets and weighted by a mask."""

from __future__ import annotations

import math

import opgate
import torch


def sampled(planes: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Planes [C, H, W] at points y, x [...], as [C, ...]; what lies outside of the planes is 0."""
    height, width = planes.shape[1:]
    top, left = y.detach().floor(), x.detach().floor()
    total = planes.new_zeros((planes.size(0), *y.shape))
    for row, weight_y in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, weight_x in ((left, 1 - (x - left)), (left + 1, x - left)):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            at = torch.where(inside, row * width + column, 0).long()
            values = planes.flatten(1)[:, at.flatten()].view(-1, *y.shape) if planes.numel() else total
            total = total + torch.where(inside, values * (weight_y * weight_x), 0)
    return total


def reference(
    features: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> torch.Tensor:
    """Tap by tap of the kernel, image by image."""
    if not features.dim() == weight.dim() == offset.dim() == 4 or bias.shape != weight.shape[:1]:
        raise RuntimeError(
            "input, weight and offset must have 4 dims, bias one element for each row of weight"
        )
    if min(stride_h, stride_w, dilation_h, dilation_w, groups, offset_groups) <= 0 or min(pad_h, pad_w) < 0:
        raise RuntimeError("strides, dilations and groups must be positive, paddings not negative")
    batch, channels, height, width = features.shape
    outputs, per_group, kernel_h, kernel_w = weight.shape
    taps = kernel_h * kernel_w
    out_h = (height + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) // stride_h + 1
    out_w = (width + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) // stride_w + 1
    if taps == 0 or out_h <= 0 or out_w <= 0:
        raise RuntimeError("the kernel has no taps, or does not fit into the padded input")
    if per_group * groups != channels or outputs % groups != 0 or channels % offset_groups != 0:
        raise RuntimeError("groups must divide the channels")
    if offset.shape != (batch, 2 * offset_groups * taps, out_h, out_w):
        raise RuntimeError(f"offset has shape {tuple(offset.shape)}")
    if use_mask and mask.shape != (batch, offset_groups * taps, out_h, out_w):
        raise RuntimeError(f"mask has shape {tuple(mask.shape)}")
    moves = offset.unflatten(1, (offset_groups, taps, 2))
    factors = mask.unflatten(1, (offset_groups, taps)) if use_mask else None
    rows = torch.arange(out_h)[:, None] * stride_h - pad_h
    columns = torch.arange(out_w)[None, :] * stride_w - pad_w
    images = []
    for b in range(batch):
        planes = features[b].unflatten(0, (offset_groups, channels // offset_groups))
        taken = []  # for each tap [C, out_h, out_w]
        for tap in range(taps):
            parts = []
            for group in range(offset_groups):
                y = rows + tap // kernel_w * dilation_h + moves[b, group, tap, 0]
                x = columns + tap % kernel_w * dilation_w + moves[b, group, tap, 1]
                part = sampled(planes[group], y, x)
                parts.append(part if factors is None else part * factors[b, group, tap])
            taken.append(torch.cat(parts))
        grouped = torch.stack(taken, 1).unflatten(0, (groups, per_group))  # [G, C/G, taps, out_h, out_w]
        kernels = weight.flatten(2).unflatten(0, (groups, outputs // groups))  # [G, O/G, C/G, taps]
        images.append(torch.einsum("goct,gcthw->gohw", kernels, grouped).flatten(0, 1) + bias[:, None, None])
    return torch.stack(images) if images else features.new_zeros((0, outputs, out_h, out_w))


def moves(*shape: int) -> opgate.TensorArgument:
    """Offsets between -2 and 2, odd multiples of 1/32: every dtype holds the points, and none is on a pixel.

    The gradient of an offset jumps where a point crosses a pixel. A point that float16 rounds across one has
    the gradient of the other side, and neither is wrong.
    """
    return opgate.values([(2 * (37 * i % 64) - 63) / 32 for i in range(math.prod(shape))], shape)


def scale(
    features: torch.Tensor,
    weight: torch.Tensor,
    offset: torch.Tensor,
    mask: torch.Tensor,
    bias: torch.Tensor,
    *numbers: int,
) -> torch.Tensor:
    """The size of the terms of the sum, at the same points."""
    return reference(features.abs(), weight.abs(), offset, mask.abs(), bias.abs(), *numbers)


@opgate.spec("torchvision::deform_conv2d")
def deform_conv2d(spec: opgate.OpSpec) -> None:
    """Values, gradients of all five tensors, and refusals."""
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cpu")
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cuda")
    spec.reference(reference)
    # The points are exact, their weights are products rounded once, and the sum has up to 54 terms.
    spec.accuracy(opgate.ulps(16), scale)
    spec.promises("deterministic", "layout_invariant", "differentiable")

    def tensors(
        batch: int, channels: int, outputs: int, kernel: tuple[int, int], out: tuple[int, int]
    ) -> list:
        """Input of 8 x 7, weight and offset, of one group each."""
        taps = kernel[0] * kernel[1]
        return [
            opgate.uniform(batch, channels, 8, 7),
            opgate.uniform(outputs, channels, *kernel),
            moves(batch, 2 * taps, *out),
        ]

    bias = opgate.uniform(4)
    masked = opgate.uniform(2, 9, 6, 5, low=0.0, high=1.0)
    plain = tensors(2, 6, 4, (3, 3), (6, 5))
    spec.sample(*plain, masked, bias, 1, 1, 0, 0, 1, 1, 1, 1, True)
    spec.sample(*plain, opgate.values([0, 0], (2, 1)), bias, 1, 1, 0, 0, 1, 1, 1, 1, False)
    grouped = opgate.uniform(4, 3, 2, 3), moves(3, 36, 4, 3)
    mask = opgate.uniform(3, 18, 4, 3, low=0.0, high=1.0)
    features = opgate.uniform(3, 6, 8, 7)
    spec.sample(features, *grouped, mask, bias, 2, 3, 1, 2, 2, 2, 2, 3, True)
    # The kernel takes up to 32 images at a time, a divisor of the batch: 33 is three times eleven.
    few = opgate.uniform(33, 1, 4, 4), opgate.uniform(4, 1, 2, 2), moves(33, 8, 3, 3)
    spec.sample(*few, opgate.uniform(33, 4, 3, 3), bias, 1, 1, 0, 0, 1, 1, 1, 1, True)
    numbers = bias, 1, 1, 0, 0, 1, 1, 1, 1, True
    short = opgate.uniform(2, 17, 6, 5)
    spec.rejects("an offset too few", *plain[:2], short, masked, *numbers, because="offset.shape[1]")
    spec.rejects("a mask too few", *plain, opgate.uniform(2, 8, 6, 5), *numbers, because="mask.shape[1]")
    small = opgate.uniform(2, 18, 5, 5)
    spec.rejects("offsets of other sizes", *plain[:2], small, masked, *numbers, because="offset output dims")
    stride = bias, 0, 1, 0, 0, 1, 1, 1, 1, True
    spec.rejects("a stride of 0", *plain, masked, *stride, because="stride_h")
