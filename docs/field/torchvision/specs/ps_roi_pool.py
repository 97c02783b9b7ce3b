"""torchvision::ps_roi_pool: the mean of each bin of each region, position-sensitive (R-FCN)."""

from __future__ import annotations

import opgate
import torch

from specs.common import (
    REGIONS,
    channel_mapping,
    channels_of_bins,
    check_regions,
    stacked_regions,
)
from specs.roi_pool import bounds, rounded


def reference(
    features: torch.Tensor, rois: torch.Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Bin (i, j) of output channel c comes from input channel (c * pooled_height + i) * pooled_width + j."""
    check_regions(features, rois)
    channels = channels_of_bins(features, pooled_height, pooled_width)
    height, width = features.shape[2:]
    rows = []
    for image, *corners in rois.detach().tolist():
        x1, y1, x2, y2 = (rounded(corner * spatial_scale) for corner in corners)
        high, wide = max(y2 - y1, 1), max(x2 - x1, 1)  # "Force too small ROIs to be 1x1"
        planes = features[int(image)].unflatten(0, (channels, pooled_height, pooled_width))
        means = []
        for i, (top, bottom) in enumerate(bounds(y1, high, pooled_height, height)):
            for j, (left, right) in enumerate(bounds(x1, wide, pooled_width, width)):
                bin_ = planes[:, i, j, top:bottom, left:right].flatten(1)
                means.append(bin_.sum(1) / max(bin_.size(1), 1))  # of nothing: 0, and differentiable
        rows.append(torch.stack(means, -1).unflatten(-1, (pooled_height, pooled_width)))
    pooled = stacked_regions(features, rows, channels, pooled_height, pooled_width)
    return pooled, channel_mapping(pooled)


@opgate.spec("torchvision::ps_roi_pool")
def ps_roi_pool(spec: opgate.OpSpec) -> None:
    """Values, gradients of `input`, and refusals."""
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cpu")
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cuda")
    spec.reference(reference)
    spec.accuracy(opgate.ulps(32).scaled_by_inputs())  # sums in the dtype: half an ulp for each of 64 terms
    spec.promises("deterministic", "layout_invariant", "thread_invariant", "differentiable")
    # The caller answers for coordinates: "must satisfy 0 <= x1 < x2 and 0 <= y1 < y2". What a factor of NaN
    # or 0 would mean for them is not documented.
    spec.trusts("rois")
    spec.trusts("spatial_scale")
    rois = opgate.values(REGIONS)
    inside = opgate.values(REGIONS[:4])
    features = opgate.uniform(2, 12, 16, 16)
    spec.sample(features, inside, 1.0, 2, 2, named="inside")
    spec.sample(features, rois, 1.0, 2, 2)
    spec.sample(features, rois, 0.5, 3, 2)
    # 57 rows in 7 bins: the last bin ends where the region does.
    spec.sample(opgate.uniform(1, 7, 64, 8), opgate.values([[0, 1, 2, 5, 59]]), 1.0, 7, 1)
    # 3600 pixels in one bin: a sum in float16 stops growing on the way.
    large = opgate.uniform(1, 1, 64, 64, low=0.5, high=1.0), opgate.values([[0, 0, 0, 60, 60]])
    spec.sample(*large, 1.0, 1, 1)
    spec.sample(opgate.infinities(2, 12, 16, 16), inside, 1.0, 2, 2, named="infinities")
    spec.sample(opgate.nans(2, 12, 16, 16), inside, 1.0, 2, 2, named="nans")
    spec.sample(opgate.uniform(2, 12, 0, 16), rois, 1.0, 2, 2)  # every bin is empty
    beyond = opgate.values([[2, 0, 0, 4, 4]])
    spec.rejects("an image too many", features, beyond, 1.0, 2, 2, because="batch index")
    spec.rejects("rois of four", features, opgate.uniform(6, 4), 1.0, 2, 2, because="[K, 5]")
    spec.rejects("channels that do not divide", features, rois, 1.0, 5, 5, because="input channels")
    other = opgate.values(REGIONS).of(torch.bfloat16)
    spec.rejects("rois of another type", features, other, 1.0, 2, 2, because="same type as rois")
