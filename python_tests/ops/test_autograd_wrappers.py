"""Autograd wrappers: they make no node without a gradient, lose no tangent, and copy no cotangent."""

from collections.abc import Callable

import opgate_ops  # noqa: F401 - registers the operators
import pytest
import torch
from bev_pool_scenes import POOL, scene
from torch.autograd import forward_ad

OPS = torch.ops.opgate_ops
Call = Callable[[torch.Tensor], object]


def image(x: torch.Tensor) -> torch.Tensor:
    """The matrix as an image of one channel."""
    return x.unsqueeze(0)


def pool(x: torch.Tensor) -> torch.Tensor:
    """bev_pool_v2, with a depth that depends on x."""
    depth, feat, indices, bev_shape = scene(x.dtype)
    return POOL(depth + x.sum(), feat, *indices, bev_shape)


CALLS: dict[str, Call] = {
    "add.Tensor": lambda x: OPS.add(x, x),
    "add.Scalar": lambda x: OPS.add(x, 1.5),
    "crop": lambda x: OPS.crop(image(x), [0, 0, 2, 2]),
    "gelu_tanh": OPS.gelu_tanh,
    "gelu_tanh_backward": lambda x: OPS.gelu_tanh_backward(x, x),
    "layer_norm": lambda x: OPS.layer_norm(x, x[0], x[0]),
    "layer_norm_backward": lambda x: OPS.layer_norm_backward(x, x, x[:, :1], x[:, :1], x[0]),
    "matmul": lambda x: OPS.matmul(x, x),
    "paste": lambda x: OPS.paste(image(x), image(x), [0, 0]),
    "sin_out": lambda x: OPS.sin_out(x, torch.empty(4, 4)),
    "bev_pool_v2": pool,
}


@pytest.fixture
def matrix() -> torch.Tensor:
    """Of 4 by 4, without a gradient."""
    return torch.rand(4, 4)


def nodes() -> int:
    """How many nodes of graphs were made so far in this thread."""
    return torch._C._autograd._get_sequence_nr()


@pytest.mark.parametrize("name", CALLS)
def test_no_node_is_made_if_nothing_requires_a_gradient(name: str, matrix: torch.Tensor) -> None:
    before = nodes()
    CALLS[name](matrix)
    assert nodes() == before
    with torch.no_grad():
        CALLS[name](matrix.clone().requires_grad_())
    assert nodes() == before
    CALLS[name](matrix.clone().requires_grad_())
    assert nodes() > before


@pytest.mark.parametrize("name", CALLS)
def test_a_tangent_is_not_lost(name: str, matrix: torch.Tensor) -> None:
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="jvp is not implemented"):
        CALLS[name](forward_ad.make_dual(matrix, torch.rand(4, 4)))


@pytest.mark.parametrize("other", [1.5, torch.rand(4, 4)], ids=["Scalar", "Tensor"])
def test_the_gradient_of_a_sum_is_its_cotangent(other: object, matrix: torch.Tensor) -> None:
    x, cotangent = matrix.requires_grad_(), torch.rand(4, 4)
    (gradient,) = torch.autograd.grad(OPS.add(x, other), x, cotangent)
    assert gradient.data_ptr() == cotangent.data_ptr()


def test_gradients_of_a_broadcast_and_promoted_sum() -> None:
    x = torch.rand(4, 1, dtype=torch.double, requires_grad=True)
    other = torch.rand(3, requires_grad=True)
    to_x, to_other = torch.autograd.grad(OPS.add(x, other).sum(), (x, other))
    assert (to_x.dtype, to_other.dtype) == (torch.double, torch.float)
    assert torch.equal(to_x, torch.full((4, 1), 3.0, dtype=torch.double))
    assert torch.equal(to_other, torch.full((3,), 4.0))
