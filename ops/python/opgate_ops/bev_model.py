"""CameraToBEV, a small Lift-Splat-Shoot view transformer: camera features as a grid seen from above."""

from collections.abc import Sequence

import torch

from opgate_ops.bev_pool import BEVPool


def make_frustum(image_size: tuple[int, int], downsample: int, depths: Sequence[float]) -> torch.Tensor:
    """The points that a camera's feature map can see: [D, H, W, 3], each (u, v, depth).

    `image_size` is (height, width) in pixels. A cell of the map stands for `downsample` x `downsample`
    pixels, and its u, v are the coordinates of their middle. `depths` are the middles of the bins, in metres
    along the optical axis.
    """
    rows, columns = image_size[0] // downsample, image_size[1] // downsample
    v = (torch.arange(rows, dtype=torch.float) + 0.5) * downsample - 0.5
    u = (torch.arange(columns, dtype=torch.float) + 0.5) * downsample - 0.5
    depth, v, u = torch.meshgrid(torch.as_tensor(depths, dtype=torch.float), v, u, indexing="ij")
    return torch.stack((u, v, depth), dim=-1)


def place_frustum(
    frustum: torch.Tensor, rotations: torch.Tensor, translations: torch.Tensor, intrinsics: torch.Tensor
) -> torch.Tensor:
    """Where the points of each camera's frustum lie in the vehicle's frame: [B, N, D, H, W, 3], in metres.

    `rotations` [B, N, 3, 3] and `translations` [B, N, 3] take a point from the camera's frame (x right, y
    down, z forward) to the vehicle's; `intrinsics` [B, N, 3, 3] take it to the pixel.
    """
    depth = frustum[..., 2:]
    rays = torch.cat((frustum[..., :2] * depth, depth), dim=-1)
    to_vehicle = rotations @ torch.linalg.inv(intrinsics)
    return torch.einsum("bnij,dhwj->bndhwi", to_vehicle, rays) + translations[:, :, None, None, None]


class CameraToBEV(torch.nn.Module):
    """Turns feature maps of N cameras into a grid seen from above.

    A 1x1 convolution predicts for each cell of a map a distribution over depth bins and a context of
    `out_channels`; each point of the frustum carries the context times its probability into the voxel that it
    lies in.

    `image_size` is (height, width) in pixels, `downsample` that of the maps, `depths` the middles of the
    depth bins in metres; `lower`, `voxel_size` and `grid` are those of `BEVPool`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        image_size: tuple[int, int],
        downsample: int,
        depths: Sequence[float],
        lower: Sequence[float],
        voxel_size: Sequence[float],
        grid: Sequence[int],
    ) -> None:
        super().__init__()
        self.register_buffer("frustum", make_frustum(image_size, downsample, depths), persistent=False)
        self.predict = torch.nn.Conv2d(in_channels, len(depths) + out_channels, kernel_size=1)
        self.pool = BEVPool(lower, voxel_size, grid)

    def forward(
        self,
        maps: torch.Tensor,
        rotations: torch.Tensor,
        translations: torch.Tensor,
        intrinsics: torch.Tensor,
    ) -> torch.Tensor:
        """Returns [B, out_channels, Z, Y, X] for `maps` [B, N, in_channels, H, W].

        `place_frustum` describes the other arguments.
        """
        batch, cameras = maps.shape[:2]
        bins = self.frustum.shape[0]
        predicted = self.predict(maps.flatten(0, 1)).unflatten(0, (batch, cameras))
        depth = predicted[:, :, :bins].softmax(dim=2)
        context = predicted[:, :, bins:].permute(0, 1, 3, 4, 2)
        coor = place_frustum(self.frustum, rotations, translations, intrinsics)
        return self.pool(depth, context, coor)
