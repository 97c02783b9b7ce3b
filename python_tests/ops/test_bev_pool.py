"""bev_pool_v2: values, derivatives, errors, compilation, and CUDA beside the CPU."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import opgate_ops
import pytest
import torch
from bev_pool_scenes import BACKWARD, POOL, PREPARE, composed, ints, scene, two_cameras
from opgate_ops.bev_pool import PoolIndices


@pytest.fixture(scope="module")
def vector(source: Path) -> dict:
    """The published test vector."""
    return json.loads((source / "fixtures" / "vectors" / "bev_pool_v2.json").read_text())


def test_the_published_vector(vector: dict) -> None:
    depth = torch.tensor(vector["depth"]).view(vector["depth_shape"]).requires_grad_()
    feat = torch.tensor(vector["feat"], dtype=torch.float).view(vector["feat_shape"]).requires_grad_()
    indices = [ints(*vector[name]) for name in PoolIndices._fields]
    out = opgate_ops.bev_pool_v2(depth, feat, *indices, vector["bev_shape"])
    assert out.shape == (1, 2, 1, 2, 2)
    assert out.sum().item() == pytest.approx(vector["sum"])
    out.backward(torch.ones_like(out))
    torch.testing.assert_close(depth.grad.flatten(), torch.tensor(vector["grad_depth"], dtype=torch.float))
    torch.testing.assert_close(feat.grad.flatten(), torch.tensor(vector["grad_feat"]))


@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16, torch.float, torch.double], ids=str)
def test_a_composition_of_torch_operators_agrees_forward_and_backward(dtype: torch.dtype) -> None:
    depth, feat, indices, bev_shape = scene(dtype)
    wide = [x.double().requires_grad_() for x in (depth, feat)]
    expected = composed(*wide, indices, bev_shape)
    cotangent = torch.randn(expected.shape, generator=torch.Generator().manual_seed(2)).to(dtype)
    expected.backward(cotangent.double())
    mine = [x.requires_grad_() for x in (depth, feat)]
    out = POOL(*mine, *indices, bev_shape)
    out.backward(cotangent)
    for got, want in [(out, expected), *((x.grad, y.grad) for x, y in zip(mine, wide, strict=True))]:
        assert got.dtype == dtype
        torch.testing.assert_close(got, want.to(dtype))


def test_the_bits_do_not_depend_on_the_number_of_threads() -> None:
    depth, feat, indices, bev_shape = scene(torch.float)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            out = POOL(depth, feat, *indices, bev_shape)
            results.append((out, *BACKWARD(out, depth, feat, *indices)))
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_points_outside_of_every_interval_do_not_count() -> None:
    arguments = two_cameras()
    want = POOL(*arguments)
    for rank in (2, 3, 4):
        arguments[rank][5] = -7  # ranks that no interval uses are not checked
    assert torch.equal(POOL(*arguments), want)
    assert torch.equal(want.flatten(0, 3)[[0, 1, 3, 4, 6, 22]], torch.zeros(6, 5))


def test_a_nan_stays_in_its_voxel() -> None:
    arguments = two_cameras()
    arguments[0].view(-1)[17] = math.nan  # of point 3, in voxel 5
    bad = POOL(*arguments).flatten(0, 3).isnan().any(1)
    assert bad.nonzero().flatten().tolist() == [5]


@pytest.mark.parametrize("dtype", [torch.half, torch.float], ids=str)
def test_no_points_give_zeros_and_zero_gradients(dtype: torch.dtype) -> None:
    depth, feat, *_, bev_shape = two_cameras(dtype)
    out = POOL(depth.requires_grad_(), feat.requires_grad_(), *[ints()] * 5, bev_shape)
    assert torch.equal(out, torch.zeros(2, 1, 3, 4, 5, dtype=dtype))
    out.sum().backward()
    assert torch.equal(depth.grad, torch.zeros_like(depth))
    assert torch.equal(feat.grad, torch.zeros_like(feat))


@pytest.mark.parametrize("channels", [1, 16, 19])
def test_derivatives_of_first_and_second_order(channels: int) -> None:
    depth, feat, *indices, bev_shape = two_cameras(torch.double, channels)
    inputs = (depth.requires_grad_(), feat.requires_grad_())
    assert torch.autograd.gradcheck(lambda d, f: POOL(d, f, *indices, bev_shape), inputs)
    assert torch.autograd.gradgradcheck(lambda d, f: POOL(d, f, *indices, bev_shape), inputs)
    grad = torch.randn(2, 1, 3, 4, channels, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda g, d, f: BACKWARD(g, d, f, *indices), (grad, *inputs))
    assert torch.autograd.gradgradcheck(lambda g, d, f: BACKWARD(g, d, f, *indices), (grad, *inputs))


@pytest.mark.parametrize("needed", [(True, False), (False, True)], ids=["depth", "feat"])
def test_each_input_alone_gets_the_gradient_that_it_gets_with_the_other(needed: tuple[bool, bool]) -> None:
    depth, feat, *rest = two_cameras()
    both = torch.autograd.grad(
        POOL(depth.requires_grad_(), feat.requires_grad_(), *rest).sum(), (depth, feat)
    )
    inputs = [x.detach().requires_grad_(wanted) for x, wanted in zip((depth, feat), needed, strict=True)]
    POOL(*inputs, *rest).sum().backward()
    for x, wanted, want in zip(inputs, needed, both, strict=True):
        assert torch.equal(x.grad, want) if wanted else x.grad is None


def test_no_gradient_is_recorded_where_none_is_wanted() -> None:
    assert not POOL(*two_cameras()).requires_grad


@pytest.mark.parametrize(
    "cotangent",
    [
        lambda out: torch.ones(()).expand(out.shape),
        lambda out: torch.randn(5, 4, 3, 1, 2).permute(4, 3, 2, 1, 0),
        lambda out: torch.randn(2, 1, 3, 8, 10)[..., ::2, ::2],
    ],
    ids=["expanded", "transposed", "stepped"],
)
def test_cotangents_of_any_strides(cotangent) -> None:
    depth, feat, *rest = two_cameras()
    out = POOL(depth.requires_grad_(), feat.requires_grad_(), *rest)
    g = cotangent(out)
    got = torch.autograd.grad(out, (depth, feat), g, retain_graph=True)
    want = torch.autograd.grad(out, (depth, feat), g.contiguous())
    assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))


@pytest.mark.parametrize("which", [0, 1], ids=["grad_depth", "grad_feat"])
def test_an_undefined_cotangent_of_one_gradient_is_a_zero(which: int) -> None:
    depth, feat, *indices, bev_shape = two_cameras(torch.double)
    grad = torch.randn(2, 1, 3, 4, 5, dtype=torch.double)
    inputs = [x.requires_grad_() for x in (grad, depth, feat)]
    first = BACKWARD(*inputs, *indices)
    # If only one result is used, the cotangent of the other one is undefined.
    got = torch.autograd.grad(first[which].square().sum(), inputs, allow_unused=True)
    first = BACKWARD(*inputs, *indices)
    want = torch.autograd.grad(first[which].square().sum() + 0 * first[1 - which].sum(), inputs)
    for mine, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(mine, theirs)


def replaced(position: int, value: object) -> list:
    """Arguments that are valid except for one."""
    arguments = two_cameras()
    arguments[position] = value
    return arguments


BAD = {
    "an integer depth": (
        0,
        torch.ones(2, 2, 3, 2, 2).int(),
        "depth must be Half, BFloat16, Float or Double, got Int",
    ),
    "a depth without cameras": (
        0,
        torch.ones(2, 3, 2, 2),
        "depth must have 5 dimensions, got 4",
    ),
    "another dtype of feat": (
        1,
        torch.ones(2, 2, 2, 2, 5).double(),
        "feat must have the dtype of depth, Float, got Double",
    ),
    "feat of another camera count": (
        1,
        torch.ones(2, 1, 2, 2, 5),
        "dimension 1 of feat must have size 2, the N of depth .*, got 1",
    ),
    "feat on another device": (
        1,
        torch.ones(2, 2, 2, 2, 5, device="meta"),
        "feat must be on the device of depth, cpu, got meta",
    ),
    "long ranks": (2, torch.zeros(9, dtype=torch.long), "ranks_depth must be Int, got Long"),
    "ranks of two dimensions": (
        3,
        torch.zeros(3, 3).int(),
        "ranks_feat must have 1 dimensions, got 2",
    ),
    "ranks of another length": (4, ints(0, 1), "ranks_bev must have 9 elements as ranks_depth has, got 2"),
    "fewer lengths than starts": (
        6,
        ints(3, 2),
        "interval_lengths must have 4 elements as interval_starts has, got 2",
    ),
    "three sizes": (7, [2, 1, 12], r"bev_shape must be \(B, Z, Y, X\), got \[2, 1, 12\]"),
    "a negative size": (7, [2, 1, -3, 4], "bev_shape must not be negative"),
    "a grid of another batch": (7, [1, 2, 3, 4], "bev_shape must begin with the B of depth, 2, got"),
    "voxels that nobody can count": (7, [2, 2**31, 2**31, 2**31], "bev_shape has too many voxels to count"),
    "a rank beyond depth": (
        2,
        ints(0, 5, 11, 17, 48, 30, 31, 47, 5),
        r"ranks_depth\[4\] is out of range: 48",
    ),
    "a negative rank": (
        3,
        ints(0, 1, 3, 5, -2, 9, 10, 15, 1),
        "ranks_feat must not be negative, got -2 at 4",
    ),
    "a voxel beyond the grid": (
        4,
        ints(2, 2, 2, 5, 5, 13, 13, 13, 24),
        r"ranks_bev\[8\] is out of range: 24",
    ),
    "a negative start": (5, ints(-1, 3, 6, 8), r"interval_starts\[0\].* out of range: -1"),
    "overlapping intervals": (5, ints(0, 2, 6, 8), "interval_starts must ascend.*starts at 2.*ends at 3"),
    "an empty interval": (6, ints(3, 0, 2, 1), "interval_lengths must be positive, got 0 at 1"),
    "an interval beyond the points": (
        6,
        ints(3, 2, 2, 2),
        r".*interval_lengths\[3\] are out of range: 8 and 2",
    ),
    "a length that overflows": (6, ints(3, 2, 2, 2**31 - 1), ".*out of range: 8 and 2147483647"),
    "one voxel of two intervals": (4, ints(5, 5, 5, 5, 5, 13, 13, 13, 23), "ranks_bev must ascend"),
    "two voxels in one interval": (
        4,
        ints(2, 2, 3, 5, 5, 13, 13, 13, 23),
        "ranks_bev must be the same.*2 and 3",
    ),
}


@pytest.mark.parametrize(("position", "value", "message"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_refused_by_name_and_left_alone(position: int, value: object, message: str) -> None:
    arguments = replaced(position, value)
    tensors = [x for x in arguments if isinstance(x, torch.Tensor) and x.device.type == "cpu"]
    before = [x.clone() for x in tensors]
    with pytest.raises(RuntimeError, match=f"bev_pool_v2: {message}"):
        POOL(*arguments)
    assert all(torch.equal(x, y) for x, y in zip(tensors, before, strict=True))


@pytest.mark.parametrize(
    ("grad", "message"),
    [
        (torch.ones(2, 1, 3, 4, 6), "dimension 4 of grad must have size 5, the C of feat, got 6"),
        (torch.ones(1, 2, 3, 4, 5), "dimension 0 of grad must have size 2, the B of depth, got 1"),
        (torch.ones(2, 12, 5), "grad must have 5 dimensions, got 3"),
        (torch.ones(2, 1, 3, 4, 5).half(), "grad must have the dtype of depth, Float, got Half"),
        (torch.ones(2, 1, 3, 3, 5), r"ranks_bev\[8\] is out of range: 23"),
    ],
    ids=["channels", "batch", "dimensions", "dtype", "voxels"],
)
def test_a_bad_incoming_gradient_is_refused_by_name(grad: torch.Tensor, message: str) -> None:
    with pytest.raises(RuntimeError, match=f"bev_pool_v2_backward: {message}"):
        BACKWARD(grad, *two_cameras()[:7])


@pytest.mark.parametrize("dtype", [torch.half, torch.float], ids=str)
def test_opcheck_passes(dtype: torch.dtype) -> None:
    depth, feat, *indices, bev_shape = two_cameras(dtype)
    inputs = (depth.requires_grad_(), feat.requires_grad_())
    torch.library.opcheck(POOL, (*inputs, *indices, bev_shape))
    grad = torch.randn(2, 1, 3, 4, 5).to(dtype).requires_grad_()
    torch.library.opcheck(BACKWARD, (grad, *inputs, *indices))
    torch.library.opcheck(PREPARE, (torch.rand(1, 2, 3, 4, 5, 3), [0.1] * 3, [0.3] * 3, [3, 2, 1]))


def test_one_compiled_program_takes_other_sizes_and_differentiates() -> None:
    compiled = torch.compile(opgate_ops.bev_pool_v2, fullgraph=True, dynamic=True)
    torch._dynamo.utils.counters.clear()
    for cameras in (3, 5):
        depth, feat, indices, bev_shape = scene(torch.float, cameras)
        inputs = (depth.requires_grad_(), feat.requires_grad_())
        want = opgate_ops.bev_pool_v2(*inputs, *indices, bev_shape)
        got = compiled(*inputs, *indices, bev_shape)
        assert torch.equal(got, want)
        for mine, theirs in zip(
            torch.autograd.grad(got.square().sum(), inputs),
            torch.autograd.grad(want.square().sum(), inputs),
            strict=True,
        ):
            torch.testing.assert_close(mine, theirs)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")


def on_cuda(arguments: Sequence) -> list:
    """The arguments with their tensors on the GPU."""
    return [x.cuda() if isinstance(x, torch.Tensor) else x for x in arguments]


@cuda
@pytest.mark.parametrize("channels", [1, 6, 80, 200])
@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16, torch.float, torch.double], ids=str)
def test_cuda_agrees_with_the_cpu_forward_and_backward(dtype: torch.dtype, channels: int) -> None:
    arguments = two_cameras(dtype, channels)
    grad = torch.randn(2, 1, 3, 4, channels).to(dtype)
    torch.testing.assert_close(POOL(*on_cuda(arguments)).cpu(), POOL(*arguments))
    got = BACKWARD(grad.cuda(), *on_cuda(arguments[:7]))
    for mine, theirs in zip(got, BACKWARD(grad, *arguments[:7]), strict=True):
        torch.testing.assert_close(mine.cpu(), theirs)


@cuda
def test_cuda_takes_rows_that_are_not_aligned_to_vectors() -> None:
    depth, feat, *rest = on_cuda(two_cameras(channels=4))
    moved = torch.empty(feat.numel() + 1, device="cuda")[1:].view_as(feat).copy_(feat)
    assert torch.equal(POOL(depth, moved, *rest), POOL(depth, feat, *rest))


@cuda
def test_cuda_gives_the_same_bits_in_every_call() -> None:
    depth, feat, indices, bev_shape = scene(torch.float)
    arguments = on_cuda([depth, feat, *indices, bev_shape])
    out = POOL(*arguments)
    first = (out, *BACKWARD(out, *arguments[:7]))
    for _ in range(5):
        again = (POOL(*arguments), *BACKWARD(out, *arguments[:7]))
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


@cuda
@pytest.mark.parametrize(("position", "point"), [(2, 4), (3, 4)], ids=["ranks_depth", "ranks_feat"])
def test_cuda_leaves_out_points_that_are_out_of_range(
    position: int, point: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPGATE_OPS_CHECK_VALUES", raising=False)
    arguments = two_cameras()
    arguments[0].view(-1)[arguments[2][point]] = (
        0  # the same sums on the CPU, where it counts with a weight of 0
    )
    want = POOL(*arguments)
    arguments[position][point] = 10**9
    torch.testing.assert_close(POOL(*on_cuda(arguments)).cpu(), want)


@cuda
def test_cuda_refuses_values_out_of_range_where_it_is_asked_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPGATE_OPS_CHECK_VALUES", "1")
    with pytest.raises(RuntimeError, match=r"bev_pool_v2: ranks_depth\[4\] is out of range: 48"):
        POOL(*on_cuda(replaced(*BAD["a rank beyond depth"][:2])))


@cuda
def test_cuda_captures_forward_and_backward_in_a_graph() -> None:
    arguments = on_cuda(two_cameras())
    grad = torch.randn(2, 1, 3, 4, 5, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = (POOL(*arguments), *BACKWARD(grad, *arguments[:7]))
    arguments[0].copy_(torch.randn_like(arguments[0]))
    graph.replay()
    for got, want in zip(captured, (POOL(*arguments), *BACKWARD(grad, *arguments[:7])), strict=True):
        assert torch.equal(got, want)


@cuda
def test_cuda_prepares_what_the_cpu_prepares() -> None:
    coor = torch.rand(2, 3, 11, 6, 10, 3, generator=torch.Generator().manual_seed(1)) * 2 - 1
    coor.view(-1)[::50] = math.nan
    grid = ((-0.8, -0.8, -0.8), (0.2, 0.1, 0.4), (8, 16, 4))
    for got, want in zip(
        opgate_ops.bev_pool_prepare(coor.cuda(), *grid), opgate_ops.bev_pool_prepare(coor, *grid), strict=True
    ):
        assert torch.equal(got.cpu(), want)
