"""torchvision::roi_pool: the largest element of each bin of each region (Fast R-CNN)."""

from __future__ import annotations

import math

import opgate
import torch

from specs.common import REGIONS, check_bins, check_regions, stacked_regions

# 57 rows in 7 bins, in feature maps of 64 x 64: the last bin ends where the region does.
TALL = [[0, 3, 2, 9, 58], [0, 0, 0, 56, 30]]


def rounded(corner: float) -> int:
    """To the nearest integer, halves away from zero, as C's round."""
    return math.floor(corner + 0.5) if corner >= 0 else -math.floor(0.5 - corner)


def bounds(start: int, length: int, bins: int, limit: int) -> list[tuple[int, int]]:
    """The bins of one side, in integers: floor and ceil of exact quotients, cut off at the borders."""
    cut = [(start + i * length // bins, start - (-(i + 1) * length // bins)) for i in range(bins)]
    return [(min(max(low, 0), limit), min(max(high, 0), limit)) for low, high in cut]


def reference(
    features: torch.Tensor, rois: torch.Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest element and its index in the plane, the first of equal ones; 0 and -1 for an empty bin."""
    check_regions(features, rois)
    check_bins(pooled_height, pooled_width)
    count, channels, height, width = rois.size(0), *features.shape[1:]
    if pooled_height * pooled_width == 0:
        nothing = features.new_zeros((count, channels, pooled_height, pooled_width))
        return nothing, nothing.int()
    values, indices = [], []
    for image, *corners in rois.detach().tolist():
        x1, y1, x2, y2 = (rounded(corner * spatial_scale) for corner in corners)
        high, wide = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)  # "Force malformed ROIs to be 1x1"
        for top, bottom in bounds(y1, high, pooled_height, height):
            for left, right in bounds(x1, wide, pooled_width, width):
                bin_ = features[int(image), :, top:bottom, left:right].flatten(1)
                if bin_.size(1) == 0:
                    values.append(bin_.sum(1))  # of nothing: 0, and differentiable
                    indices.append(torch.full((channels,), -1))
                    continue
                at = bin_.detach().argmax(1)
                values.append(bin_.gather(1, at[:, None])[:, 0])
                indices.append((top + at // (right - left)) * width + left + at % (right - left))
    shape = (count, pooled_height, pooled_width, channels)
    pooled = stacked_regions(features, values, channels).view(shape).permute(0, 3, 1, 2)
    argmax = (torch.stack(indices) if indices else torch.zeros(0)).view(shape).permute(0, 3, 1, 2)
    return pooled.contiguous(), argmax.contiguous().int()


@opgate.spec("torchvision::roi_pool")
def roi_pool(spec: opgate.OpSpec) -> None:
    """Values, places of the maxima, gradients of `input`, and refusals."""
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cpu")
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cuda")
    spec.reference(reference)
    spec.accuracy(opgate.exact())  # it selects
    spec.promises("deterministic", "layout_invariant", "thread_invariant", "differentiable")
    # The caller answers for coordinates: "must satisfy 0 <= x1 < x2 and 0 <= y1 < y2". What a factor of NaN
    # or 0 would mean for them is not documented.
    spec.trusts("rois")
    spec.trusts("spatial_scale")
    rois = opgate.values(REGIONS)
    features = opgate.uniform(2, 3, 16, 16)
    spec.sample(features, rois, 1.0, 3, 3)
    spec.sample(features, rois, 0.5, 2, 4)
    spec.sample(opgate.uniform(1, 2, 64, 64), opgate.values(TALL), 1.0, 7, 7)
    spec.sample(opgate.infinities(2, 3, 16, 16), rois, 1.0, 3, 3, named="infinities")
    spec.sample(opgate.extremes(2, 3, 16, 16), rois, 1.0, 3, 3, named="extremes")
    spec.sample(opgate.nans(2, 3, 16, 16), rois, 1.0, 2, 2, named="nans")
    spec.sample(opgate.uniform(2, 3, 0, 16), rois, 1.0, 3, 3)  # every bin is empty
    beyond = opgate.values([[2, 0, 0, 4, 4]])
    spec.rejects("an image too many", features, beyond, 1.0, 3, 3, because="batch index")
    spec.rejects("rois of four", features, opgate.uniform(6, 4), 1.0, 3, 3, because="[K, 5]")
    other = opgate.values(REGIONS).of(torch.bfloat16)
    spec.rejects("rois of another type", features, other, 1.0, 3, 3, because="same type as rois")
