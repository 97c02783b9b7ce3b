"""The preparation of bev_pool_v2's indices, and the model around both."""

import math
from collections.abc import Sequence

import opgate_ops
import pytest
import torch
from opgate_ops.bev_model import CameraToBEV, make_frustum, place_frustum
from opgate_ops.bev_pool import PoolIndices


def grid_indices(coor: Sequence[Sequence[float]], **grid: object) -> PoolIndices:
    """Prepares points in a row, of one camera and one pixel."""
    defaults = {"lower": [0.0, 0.0, 0.0], "voxel_size": [0.5, 0.5, 0.5], "grid": [2, 2, 2]}
    tensor = torch.tensor(coor, dtype=torch.float).view(1, 1, len(coor), 1, 1, 3)
    return opgate_ops.bev_pool_prepare(tensor, **{**defaults, **grid})


def test_points_just_below_the_lower_bound_stay_outside() -> None:
    indices = grid_indices([(0, 0, 0), (-0.25, 0, 0), (0, -1e-7, 0), (0.999, 0.999, 0.999), (1, 0, 0)])
    assert indices.ranks_depth.tolist() == [0, 3]
    assert indices.ranks_bev.tolist() == [0, 7]


def test_points_that_are_not_finite_are_left_out() -> None:
    indices = grid_indices([(math.nan, 0, 0), (0, math.inf, 0), (0, 0, -math.inf), (3e38, 0, 0), (0.5, 0, 0)])
    assert indices.ranks_depth.tolist() == [4]
    assert indices.ranks_bev.tolist() == [1]


def test_points_of_one_voxel_keep_their_order() -> None:
    indices = grid_indices([(0.9, 0, 0), (0.1, 0, 0), (0.8, 0, 0), (0.2, 0, 0.1)])
    assert indices.ranks_depth.tolist() == [1, 3, 0, 2]
    assert indices.ranks_bev.tolist() == [0, 0, 1, 1]
    assert indices.interval_starts.tolist() == [0, 2]
    assert indices.interval_lengths.tolist() == [2, 2]


def test_axes_and_batches_are_where_the_grid_has_them() -> None:
    coor = torch.full((2, 1, 1, 1, 2, 3), 0.5)
    coor[1, 0, 0, 0, 1] = torch.tensor([3.5, 2.5, 1.5])
    indices = opgate_ops.bev_pool_prepare(coor, (0, 0, 0), (1, 1, 1), (4, 3, 2))
    x, y, z, batch = 3, 2, 1, 1
    assert indices.ranks_bev.tolist() == [0, 0, 24, ((batch * 2 + z) * 3 + y) * 4 + x]
    assert indices.ranks_feat.tolist() == [0, 1, 2, 3]


def test_many_voxels_are_sorted_too() -> None:
    generator = torch.Generator().manual_seed(0)
    coor = torch.rand(2, 2, 9, 8, 7, 3, generator=generator, dtype=torch.double)
    indices = opgate_ops.bev_pool_prepare(coor, (0, 0, 0), (1 / 900,) * 3, (900, 900, 900))
    cells = (coor.view(-1, 3) / (1 / 900)).floor().long()
    batch = torch.arange(len(cells)) // (len(cells) // 2)
    ranks = ((batch * 900 + cells[:, 2]) * 900 + cells[:, 1]) * 900 + cells[:, 0]
    want, order = ranks.sort(stable=True)
    assert torch.equal(indices.ranks_bev.long(), want)
    assert torch.equal(indices.ranks_depth.long(), order)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": [2, -1, 2]}, r"grid must not be negative, got \[2, -1, 2\]"),
        ({"grid": [2, 2]}, r"grid must be x, y, z, got \[2, 2\]"),
        ({"grid": [2**16, 2**15, 1]}, "grid must have at most 2147483647 voxels"),
        ({"grid": [2**62, 2**62, 2**62]}, "grid must have at most 2147483647 voxels"),
        ({"voxel_size": [0.5, 0.0, 0.5]}, "voxel_size must be positive"),
        ({"voxel_size": [0.5, math.nan, 0.5]}, "voxel_size must be finite"),
        ({"lower": [0.0, math.inf, 0.0]}, "lower must be finite"),
    ],
    ids=str,
)
def test_a_bad_grid_is_refused_by_name(change: dict, message: str) -> None:
    with pytest.raises(RuntimeError, match=f"bev_pool_prepare: {message}"):
        grid_indices([(0, 0, 0)], **change)


def test_coordinates_in_half_precision_are_refused() -> None:
    with pytest.raises(RuntimeError, match="coor must be Float or Double, got Half"):
        opgate_ops.bev_pool_prepare(torch.ones(1, 1, 1, 1, 1, 3).half(), (0, 0, 0), (1, 1, 1), (2, 2, 2))


def test_no_points_at_all_give_empty_indices_and_an_empty_grid() -> None:
    for coor in (torch.empty(2, 0, 3, 4, 5, 3), torch.full((2, 1, 3, 4, 5, 3), 99.0)):
        indices = opgate_ops.bev_pool_prepare(coor, (0, 0, 0), (1, 1, 1), (3, 2, 1))
        assert [(x.dtype, x.shape) for x in indices] == [(torch.int32, (0,))] * 5
        depth, feat = torch.rand(coor.shape[:-1]), torch.rand(*coor.shape[:2], 4, 5, 6)
        out = opgate_ops.bev_pool_v2(depth, feat, *indices, (2, 1, 2, 3))
        assert torch.equal(out, torch.zeros(2, 6, 1, 2, 3))


def front_camera() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rotation, translation and intrinsics of a camera 1.5 m up that looks along the vehicle's x."""
    rotation = torch.tensor([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    intrinsics = torch.tensor([[100.0, 0.0, 31.5], [0.0, 100.0, 15.5], [0.0, 0.0, 1.0]])
    return rotation[None, None], torch.tensor([0.0, 0.0, 1.5])[None, None], intrinsics[None, None]


def test_a_frustum_lies_in_front_of_its_camera() -> None:
    frustum = make_frustum((32, 64), 16, [4.0, 8.0])
    assert frustum.shape == (2, 2, 4, 3)
    coor = place_frustum(frustum, *front_camera())
    assert coor.shape == (1, 1, 2, 2, 4, 3)
    torch.testing.assert_close(coor[..., 0], frustum[..., 2][None, None])  # x is the depth
    left, right = coor[0, 0, 1, 0, 0], coor[0, 0, 1, 0, 3]
    torch.testing.assert_close(left, torch.tensor([8.0, 24 * 8 / 100, 1.5 + 8 * 8 / 100]))
    torch.testing.assert_close(right, torch.tensor([8.0, -24 * 8 / 100, 1.5 + 8 * 8 / 100]))


@pytest.fixture
def model() -> CameraToBEV:
    """A grid of 10 m x 8 m in front of the vehicle."""
    torch.manual_seed(0)
    return CameraToBEV(
        in_channels=3,
        out_channels=6,
        image_size=(32, 64),
        downsample=16,
        depths=[2.0, 4.0, 6.0, 8.0],
        lower=(0.0, -4.0, -5.0),
        voxel_size=(1.0, 1.0, 10.0),
        grid=(10, 8, 1),
    )


def test_the_model_puts_what_a_camera_sees_where_it_is(model: CameraToBEV) -> None:
    maps = torch.randn(1, 1, 3, 2, 4, requires_grad=True)
    out = model(maps, *front_camera())
    assert out.shape == (1, 6, 1, 8, 10)
    seen = out.detach().abs().sum((0, 1, 2, 3)).nonzero().flatten().tolist()
    assert seen == [2, 4, 6, 8]  # along x, where the depth bins are
    out.square().sum().backward()
    assert maps.grad.abs().sum() > 0
    assert all(weight.grad.abs().sum() > 0 for weight in model.parameters())


def test_the_weights_of_a_pixel_add_up_to_its_context(model: CameraToBEV) -> None:
    maps = torch.randn(2, 1, 3, 2, 4)
    cameras = [x.expand(2, *x.shape[1:]) for x in front_camera()]
    out = model(maps, *cameras)
    context = model.predict(maps.flatten(0, 1))[:, 4:]
    torch.testing.assert_close(out.sum((2, 3, 4)), context.sum((2, 3)))  # every point lies in the grid


def test_the_model_is_compiled_as_a_whole(model: CameraToBEV) -> None:
    maps = torch.randn(1, 1, 3, 2, 4)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(model, fullgraph=True)
        torch.testing.assert_close(compiled(maps, *front_camera()), model(maps, *front_camera()))
