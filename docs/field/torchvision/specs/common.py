"""What the four operators on regions of interest share: the regions, and bilinear interpolation."""

from __future__ import annotations

import math

import torch

# (image, x1, y1, x2, y2) in feature maps of 16 x 16: inside, of fractions that no dtype holds exactly, of
# less than one pixel, in the corner, up to the border, and over it.
REGIONS = [
    [0, 2, 1, 10, 9],
    [1, 0.3, 1.7, 7.9, 12.1],
    [0, 3.25, 4.5, 3.75, 5.125],
    [1, 0, 0, 2, 2],
    [0, 8, 8, 16, 16],
    [1, 9.5, 11, 19.5, 21],
]

# The same, of corners and bins that every dtype holds exactly: with special values an interpolation weight
# that is rounded to 0 makes NaN of an infinity.
EXACT_REGIONS = [[0, 2, 1, 10, 9], [1, 0.5, 1.75, 8.5, 13.75], [0, 3, 2, 7, 6]]

MOST = 2**31 - 1


def check_regions(features: torch.Tensor, rois: torch.Tensor) -> None:
    """Raises RuntimeError for what is not documented: feature maps [N, C, H, W] and regions [K, 5]."""
    if features.dim() != 4:
        raise RuntimeError(f"input must have shape [N, C, H, W], got {tuple(features.shape)}")
    if rois.dim() != 2 or rois.size(1) != 5:
        raise RuntimeError(f"rois must have shape [K, 5], got {tuple(rois.shape)}")


def check_bins(pooled_height: int, pooled_width: int, least: int = 0) -> None:
    """Raises RuntimeError for fewer bins than `least`, or more than any memory holds."""
    if not (least <= pooled_height <= MOST and least <= pooled_width <= MOST):
        raise RuntimeError(f"bins must be in [{least}, {MOST}], got {pooled_height}, {pooled_width}")


def channels_of_bins(features: torch.Tensor, pooled_height: int, pooled_width: int) -> int:
    """Output channels of the position-sensitive operators, which give each bin channels of its own.

    Raises RuntimeError where the input's cannot be divided among the bins.
    """
    check_bins(pooled_height, pooled_width, least=1)  # channels are divided by them
    bins = pooled_height * pooled_width
    if features.size(1) % bins != 0:
        raise RuntimeError(f"input channels must be a multiple of {bins}, got {features.size(1)}")
    return features.size(1) // bins


def channel_mapping(pooled: torch.Tensor) -> torch.Tensor:
    """The input channel of each element of [K, C, bins, bins]: numbered through."""
    mapping = torch.arange(pooled.shape[1:].numel(), dtype=torch.int32).view(pooled.shape[1:])
    return mapping.expand(pooled.shape).contiguous()


def sampling_grid(sampling_ratio: int, size: tuple[float, float]) -> tuple[int, int]:
    """The points of a bin, in y and x: as many as asked for, or one a pixel, rounded up.

    Raises RuntimeError where more are asked for than could ever be sampled.
    """
    if sampling_ratio > MOST:
        raise RuntimeError(f"sampling_ratio must be less than {MOST}, got {sampling_ratio}")
    if sampling_ratio > 0:
        return sampling_ratio, sampling_ratio
    return math.ceil(size[0]), math.ceil(size[1])


def bilinear(plane: torch.Tensor, y: float, x: float) -> torch.Tensor:
    """Planes [..., H, W] at one point: 0 beyond one pixel outside, the border's value up to there."""
    height, width = plane.shape[-2:]
    if not (-1 <= y <= height and -1 <= x <= width) or height == 0 or width == 0:
        return plane[..., :0, :0].sum((-1, -2))  # of nothing: 0, and differentiable
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = math.floor(y), math.floor(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    return (
        plane[..., top, left] * ((1 - down) * (1 - across))
        + plane[..., top, right] * ((1 - down) * across)
        + plane[..., bottom, left] * (down * (1 - across))
        + plane[..., bottom, right] * (down * across)
    )


def sampled_mean(
    plane: torch.Tensor, start: tuple[float, float], size: tuple[float, float], grid: tuple[int, int]
) -> torch.Tensor:
    """The mean of planes [..., H, W] over a regular grid of points in one bin (y, x)."""
    total = plane[..., :0, :0].sum((-1, -2))
    for i in range(grid[0]):
        for j in range(grid[1]):
            y = start[0] + (i + 0.5) * size[0] / grid[0]
            x = start[1] + (j + 0.5) * size[1] / grid[1]
            total = total + bilinear(plane, y, x)
    return total / (grid[0] * grid[1])


def stacked_regions(features: torch.Tensor, rows: list[torch.Tensor], *shape: int) -> torch.Tensor:
    """The results of all regions; [0, *shape] where there are none."""
    return torch.stack(rows) if rows else features.new_zeros((0, *shape))
