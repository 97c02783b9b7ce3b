"""torchvision::ps_roi_align: position-sensitive roi_align (Light-Head R-CNN)."""

from __future__ import annotations

import math

import opgate
import torch

from specs.common import (
    EXACT_REGIONS,
    REGIONS,
    channel_mapping,
    channels_of_bins,
    check_regions,
    sampled_mean,
    sampling_grid,
    stacked_regions,
)


def reference(
    features: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Bin (i, j) of output channel c comes from input channel (c * pooled_height + i) * pooled_width + j."""
    check_regions(features, rois)
    channels = channels_of_bins(features, pooled_height, pooled_width)
    rows = []
    for image, *corners in rois.detach().tolist():
        x1, y1, x2, y2 = (corner * spatial_scale - 0.5 for corner in corners)
        size = (y2 - y1) / pooled_height, (x2 - x1) / pooled_width
        grid = sampling_grid(sampling_ratio, size)
        planes = features[int(image)].unflatten(0, (channels, pooled_height, pooled_width))
        means = [
            sampled_mean(planes[:, i, j], (y1 + i * size[0], x1 + j * size[1]), size, grid)
            for i in range(pooled_height)
            for j in range(pooled_width)
        ]
        rows.append(torch.stack(means, -1).unflatten(-1, (pooled_height, pooled_width)))
    pooled = stacked_regions(features, rows, channels, pooled_height, pooled_width)
    return pooled, channel_mapping(pooled)


@opgate.spec("torchvision::ps_roi_align")
def ps_roi_align(spec: opgate.OpSpec) -> None:
    """Values, gradients of `input`, and refusals."""
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cpu")
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cuda")
    spec.reference(reference)
    # As roi_align: the points are computed in the dtype of the features.
    spec.accuracy(opgate.ulps(128).scaled_by_inputs())
    spec.gradient_accuracy(opgate.ulps(128))
    spec.promises("deterministic", "layout_invariant", "thread_invariant", "differentiable")
    # The caller answers for coordinates: "must satisfy 0 <= x1 < x2 and 0 <= y1 < y2". What a factor of NaN
    # or 0 would mean for them is not documented.
    spec.trusts("rois")
    spec.trusts("spatial_scale")
    rois = opgate.values(REGIONS)
    features = opgate.uniform(2, 12, 16, 16)
    spec.sample(features, rois, 1.0, 2, 2, -1)
    spec.sample(features, rois, 1.0, 2, 3, 2)
    spec.sample(features, rois, 0.5, 3, 4, -1)
    exact = opgate.values(EXACT_REGIONS)
    spec.sample(opgate.infinities(2, 12, 16, 16), exact, 1.0, 2, 2, 2, named="infinities")
    spec.sample(opgate.nans(2, 12, 16, 16), exact, 1.0, 2, 2, 2, named="nans")
    # A region that does not touch the features, which begin with NaN.
    first = opgate.values([math.nan, *range(15)], (1, 1, 4, 4)), opgate.values([[0, 10, 10, 12, 12]])
    spec.sample(*first, 1.0, 1, 1, 2, named="outside")
    # No pixels: every point lies outside, and counts 0. The last sample, for the kernel crashes.
    spec.sample(opgate.uniform(2, 12, 0, 16), rois, 1.0, 2, 2, -1)
    beyond = opgate.values([[2, 0, 0, 4, 4]])
    spec.rejects("an image too many", features, beyond, 1.0, 2, 2, -1, because="batch index")
    spec.rejects("rois of four", features, opgate.uniform(6, 4), 1.0, 2, 2, -1, because="[K, 5]")
    spec.rejects("channels that do not divide", features, rois, 1.0, 5, 5, -1, because="input channels")
    other = opgate.values(REGIONS).of(torch.bfloat16)
    spec.rejects("rois of another type", features, other, 1.0, 2, 2, -1, because="same type as rois")
