"""torchvision::nms: greedy suppression of boxes that overlap a better one."""

from __future__ import annotations

import opgate
import torch

# (x1, y1, x2, y2): pairs whose overlap is 1/3, exactly 1/2 and above, one inside another, one far from all,
# twins.
BOXES = [
    [0, 0, 4, 4],
    [2, 0, 6, 4],
    [0, 0, 4, 2],
    [0.5, 0, 4.5, 4],
    [10, 10, 12, 14],
    [10, 10, 12, 12.5],
    [20, 3, 21, 4],
    [20, 3, 21, 4],
    [1.1, 1.3, 3.7, 3.2],
]
SCORES = [0.9, 0.75, 0.8, 0.7, 0.2, 0.35, 0.5, 0.4, 0.1]


def reference(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """A box stays unless one that stays, with a higher score, overlaps it by more than the threshold."""
    if boxes.dim() != 2 or boxes.size(1) != 4:
        raise RuntimeError(f"boxes must have shape [N, 4], got {tuple(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise RuntimeError(f"scores must have one element for each box, got {tuple(scores.shape)}")
    kept: list[int] = []
    corners = boxes.tolist()

    def overlap(one: list[float], other: list[float]) -> float:
        wide = max(min(one[2], other[2]) - max(one[0], other[0]), 0.0)
        high = max(min(one[3], other[3]) - max(one[1], other[1]), 0.0)
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
        shared = wide * high
        return shared / (sum(areas) - shared)

    for i in scores.argsort(descending=True, stable=True).tolist():
        if all(overlap(corners[j], corners[i]) <= iou_threshold for j in kept):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


@opgate.spec("torchvision::nms")
def nms(spec: opgate.OpSpec) -> None:
    """Which boxes stay, and refusals."""
    spec.dtypes(torch.float32, torch.float64, device="cpu")
    spec.dtypes(torch.float32, torch.float64, torch.float16, device="cuda")
    spec.reference(reference)
    spec.accuracy(opgate.exact())  # indices
    spec.promises("deterministic", "layout_invariant", "thread_invariant")
    spec.trusts("dets")  # "expected to be in (x1, y1, x2, y2) format with 0 <= x1 < x2 and 0 <= y1 < y2"
    spec.trusts("scores")  # how those of NaN are ordered is not documented
    boxes, scores = opgate.values(BOXES), opgate.values(SCORES)
    spec.sample(boxes, scores, 0.5)
    spec.sample(boxes, scores, 0.3)
    spec.sample(boxes, scores, 0.9)
    spec.rejects("boxes of five", opgate.uniform(9, 5), scores, 0.5, because="should have 4 elements")
    spec.rejects("a score too many", boxes, opgate.uniform(10), 0.5, because="same number of elements")
    spec.rejects(
        "scores of two dims", boxes, opgate.uniform(9, 1), 0.5, because="scores should be a 1d tensor"
    )
    other = opgate.values(SCORES).of(torch.bfloat16)
    spec.rejects("scores of another type", boxes, other, 0.5, because="same type as scores")
