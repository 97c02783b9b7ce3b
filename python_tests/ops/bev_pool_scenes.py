"""Arguments of bev_pool_v2 that several test files share."""

import math
from collections.abc import Sequence

import opgate_ops
import torch
from opgate_ops.bev_pool import PoolIndices

POOL = torch.ops.opgate_ops.bev_pool_v2.default
BACKWARD = torch.ops.opgate_ops.bev_pool_v2_backward.default
PREPARE = torch.ops.opgate_ops.bev_pool_prepare.default


def ints(*numbers: int) -> torch.Tensor:
    """An index tensor."""
    return torch.tensor(numbers, dtype=torch.int32)


def two_cameras(dtype: torch.dtype = torch.float, channels: int = 5) -> list:
    """Arguments of two batches of two cameras; ranks repeat, and point 5 is in no interval."""
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(2, 2, 3, 2, 2, generator=generator, dtype=torch.double).to(dtype),
        torch.randn(2, 2, 2, 2, channels, generator=generator, dtype=torch.double).to(dtype),
        ints(0, 5, 11, 17, 3, 30, 31, 47, 5),
        ints(0, 1, 3, 5, 2, 9, 10, 15, 1),
        ints(2, 2, 2, 5, 5, 13, 13, 13, 23),
        ints(0, 3, 6, 8),
        ints(3, 2, 2, 1),
        [2, 1, 3, 4],
    ]


def composed(
    depth: torch.Tensor, feat: torch.Tensor, indices: PoolIndices, bev_shape: Sequence[int]
) -> torch.Tensor:
    """The same by gather, multiply and index_add, for points that all are in intervals: [B, Z, Y, X, C]."""
    terms = depth.flatten()[indices.ranks_depth.long(), None] * feat.flatten(0, 3)[indices.ranks_feat.long()]
    out = terms.new_zeros(math.prod(bev_shape), feat.shape[-1])
    return out.index_add(0, indices.ranks_bev.long(), terms).view(*bev_shape, -1)


def scene(dtype: torch.dtype, cameras: int = 3) -> tuple[torch.Tensor, torch.Tensor, PoolIndices, list[int]]:
    """Random points of two batches of cameras, about half of them in the grid. No two sizes are alike."""
    generator = torch.Generator().manual_seed(1)
    depth = torch.rand(2, cameras, 11, 6, 10, generator=generator, dtype=torch.double)
    feat = torch.randn(2, cameras, 6, 10, 33, generator=generator, dtype=torch.double)
    coor = torch.rand(2, cameras, 11, 6, 10, 3, generator=generator) * 2 - 1
    indices = opgate_ops.bev_pool_prepare(coor, (-0.8, -0.8, -0.8), (0.2, 0.1, 0.4), (8, 16, 4))
    return depth.to(dtype), feat.to(dtype), indices, [2, 4, 16, 8]
