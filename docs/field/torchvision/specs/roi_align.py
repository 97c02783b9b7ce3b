"""torchvision::roi_align: the mean of bilinear samples in each bin of each region (Mask R-CNN)."""

from __future__ import annotations

import math

import opgate
import torch

from specs.common import (
    EXACT_REGIONS,
    REGIONS,
    check_bins,
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
    aligned: bool,
) -> torch.Tensor:
    """Region by region, bin by bin, point by point."""
    check_regions(features, rois)
    check_bins(pooled_height, pooled_width)
    if pooled_height * pooled_width == 0:
        return features.new_zeros((rois.size(0), features.size(1), pooled_height, pooled_width))
    shift = 0.5 if aligned else 0.0
    rows = []
    for image, *corners in rois.detach().tolist():
        x1, y1, x2, y2 = (corner * spatial_scale - shift for corner in corners)
        high, wide = y2 - y1, x2 - x1
        if not aligned:  # "Force malformed ROIs to be 1x1"
            high, wide = max(high, 1.0), max(wide, 1.0)
        size = high / pooled_height, wide / pooled_width
        grid = sampling_grid(sampling_ratio, size)
        means = [
            sampled_mean(features[int(image)], (y1 + i * size[0], x1 + j * size[1]), size, grid)
            for i in range(pooled_height)
            for j in range(pooled_width)
        ]
        rows.append(torch.stack(means, -1).unflatten(-1, (pooled_height, pooled_width)))
    return stacked_regions(features, rows, features.size(1), pooled_height, pooled_width)


@opgate.spec("torchvision::roi_align")
def roi_align(spec: opgate.OpSpec) -> None:
    """Values, gradients of `input`, and refusals."""
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cpu")
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cuda")
    spec.reference(reference)
    # The points are computed in the dtype of the features: three roundings of a coordinate below 32 are at
    # most 3 * 16 ulps of 1, in y and in x, and a value changes by twice the largest element a pixel.
    spec.accuracy(opgate.ulps(128).scaled_by_inputs())
    spec.gradient_accuracy(opgate.ulps(128))
    spec.promises("deterministic", "layout_invariant", "thread_invariant", "differentiable")
    # The caller answers for coordinates: "must satisfy 0 <= x1 < x2 and 0 <= y1 < y2". What a factor of NaN
    # or 0 would mean for them is not documented.
    spec.trusts("rois")
    spec.trusts("spatial_scale")
    rois = opgate.values(REGIONS)
    features = opgate.uniform(2, 3, 16, 16)
    spec.sample(features, rois, 1.0, 3, 3, -1, False)
    spec.sample(features, rois, 1.0, 3, 2, 2, True)
    spec.sample(features, rois, 0.5, 2, 4, -1, True)
    exact = opgate.values(EXACT_REGIONS)
    spec.sample(opgate.infinities(2, 3, 16, 16), exact, 1.0, 2, 2, 2, False, named="infinities")
    spec.sample(opgate.nans(2, 3, 16, 16), exact, 1.0, 2, 2, 2, False, named="nans")
    # A region that does not touch the features, which begin with NaN.
    first = opgate.values([math.nan, *range(15)], (1, 1, 4, 4)), opgate.values([[0, 10, 10, 12, 12]])
    spec.sample(*first, 1.0, 1, 1, 2, False, named="outside")
    # 2304 points in one bin: a sum in float16 stops growing on the way.
    large = opgate.uniform(1, 1, 64, 64, low=0.5, high=1.0), opgate.values([[0, 0, 0, 48, 48]])
    spec.sample(*large, 1.0, 1, 1, -1, False)
    # No pixels: every point lies outside, and counts 0. The last sample, for the kernel crashes.
    spec.sample(opgate.uniform(2, 3, 0, 16), rois, 1.0, 3, 3, -1, False)
    beyond = opgate.values([[2, 0, 0, 4, 4]])
    spec.rejects("an image too many", features, beyond, 1.0, 3, 3, -1, False, because="batch index")
    spec.rejects("rois of four", features, opgate.uniform(6, 4), 1.0, 3, 3, -1, False, because="[K, 5]")
    other = opgate.values(REGIONS).of(torch.bfloat16)
    spec.rejects("rois of another type", features, other, 1.0, 3, 3, -1, False, because="same type as rois")
