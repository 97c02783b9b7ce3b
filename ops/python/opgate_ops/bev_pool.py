"""Pooling of camera features into a bird's-eye-view grid: bev_pool_prepare, then bev_pool_v2."""

from collections.abc import Sequence
from typing import NamedTuple

import torch


class PoolIndices(NamedTuple):
    """Which point falls into which voxel: int32 tensors, as `bev_pool_v2` takes them.

    A point is a depth bin, a pixel and a voxel, each as an index into the flattened tensor. Points of one
    voxel follow one another; an interval says where the points of one voxel begin and how many there are.
    """

    ranks_depth: torch.Tensor
    ranks_feat: torch.Tensor
    ranks_bev: torch.Tensor
    interval_starts: torch.Tensor
    interval_lengths: torch.Tensor


def bev_pool_v2(
    depth: torch.Tensor,
    feat: torch.Tensor,
    ranks_depth: torch.Tensor,
    ranks_feat: torch.Tensor,
    ranks_bev: torch.Tensor,
    interval_starts: torch.Tensor,
    interval_lengths: torch.Tensor,
    bev_shape: Sequence[int],
) -> torch.Tensor:
    """Features weighted by depth and summed in voxels: [B, C, Z, Y, X], channels last in memory.

    `depth` is [B, N, D, H, W] and `feat` [B, N, H, W, C], both Half, BFloat16, Float or Double, on the CPU or
    a CUDA device; sums of half types are made in float. The ranks are int32 [P], the intervals int32 [I],
    `bev_shape` is (B, Z, Y, X). For each interval, voxel v = ranks_bev[start] is the sum over its points p of
    depth.flat[ranks_depth[p]] * feat.flat[ranks_feat[p]]. All other voxels are 0, and points outside every
    interval do not count. The operator is deterministic, and twice differentiable in `depth` and `feat`.

    Raises RuntimeError for other devices, dtypes and sizes. On the CPU it also raises for ranks and intervals
    out of range, intervals that do not ascend in points and in voxels, and intervals whose points differ in
    ranks_bev. On CUDA these checks would wait for the device, so they are made only if the environment
    variable OPGATE_OPS_CHECK_VALUES is 1 and no CUDA graph is being captured. Without them, points and
    intervals out of range are left out.
    """
    out = torch.ops.opgate_ops.bev_pool_v2.default(
        depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths, bev_shape
    )
    return out.permute(0, 4, 1, 2, 3)


def bev_pool_prepare(
    coor: torch.Tensor, lower: Sequence[float], voxel_size: Sequence[float], grid: Sequence[int]
) -> PoolIndices:
    """Sorts the points of the cameras' frustums into the voxels of a grid.

    `coor` is [B, N, D, H, W, 3], the x, y, z in metres of each depth bin of each pixel, Float or Double.
    `lower` is the grid's corner and `voxel_size` the size of a voxel, in metres, `grid` the number of voxels,
    each as x, y, z. A point is in voxel floor((coor - lower) / voxel_size), computed in double. Points that
    are NaN, infinite or outside the grid are left out. Points of one voxel keep their order. The result is
    for a `bev_shape` of (B, Z, Y, X).

    The sizes of the result depend on the values, so it waits for the device on CUDA. Raises RuntimeError for
    other dtypes and shapes, a voxel_size that is not positive, and more than 2^31 - 1 points or voxels.
    """
    return PoolIndices(*torch.ops.opgate_ops.bev_pool_prepare.default(coor, lower, voxel_size, grid))


@torch.library.register_fake("opgate_ops::bev_pool_prepare")
def _fake_bev_pool_prepare(
    coor: torch.Tensor, lower: Sequence[float], voxel_size: Sequence[float], grid: Sequence[int]
) -> tuple[torch.Tensor, ...]:
    """Metadata of the real result, with two sizes that depend on the values."""
    torch._check(
        coor.dtype in (torch.float, torch.double),
        lambda: f"bev_pool_prepare: coor must be Float or Double, got {coor.dtype}",
    )
    torch._check(
        coor.dim() == 6 and coor.shape[5] == 3,
        lambda: f"bev_pool_prepare: coor must be [B, N, D, H, W, 3], got shape {coor.shape}",
    )
    torch._check(len(lower) == 3, lambda: f"bev_pool_prepare: lower must be x, y, z, got {lower}")
    torch._check(
        len(voxel_size) == 3, lambda: f"bev_pool_prepare: voxel_size must be x, y, z, got {voxel_size}"
    )
    torch._check(len(grid) == 3, lambda: f"bev_pool_prepare: grid must be x, y, z, got {grid}")
    context = torch.library.get_ctx()
    points = context.new_dynamic_size()
    intervals = context.new_dynamic_size()
    return tuple(
        coor.new_empty(count, dtype=torch.int32) for count in (points, points, points, intervals, intervals)
    )


class BEVPool(torch.nn.Module):
    """Pools features of points at given places into a grid: bev_pool_prepare and bev_pool_v2 in one.

    `lower` is the grid's corner and `voxel_size` the size of a voxel, in metres, `grid` the number of voxels,
    each as x, y, z.
    """

    def __init__(self, lower: Sequence[float], voxel_size: Sequence[float], grid: Sequence[int]) -> None:
        super().__init__()
        self.lower = list(lower)
        self.voxel_size = list(voxel_size)
        self.grid = list(grid)

    def forward(self, depth: torch.Tensor, feat: torch.Tensor, coor: torch.Tensor) -> torch.Tensor:
        """[B, C, Z, Y, X] from `depth` [B, N, D, H, W], `feat` [B, N, H, W, C], `coor` [B, N, D, H, W, 3]."""
        x, y, z = self.grid
        indices = bev_pool_prepare(coor, self.lower, self.voxel_size, self.grid)
        return bev_pool_v2(depth, feat, *indices, (depth.shape[0], z, y, x))
