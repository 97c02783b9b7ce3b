"""Right functions whose results in float and in double differ by much, and wrong ones like them."""

from __future__ import annotations

from collections.abc import Callable

import opgate
import pytest
import torch
from torch.nn import functional

torch.manual_seed(0)  # otherwise the numbers depend on which files of tests were imported before
IMAGE = torch.rand(2, 3, 11, 13)
HOMOGRAPHY = torch.eye(3).repeat(2, 1, 1)


def enlarged(x: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """What is far outside the image after a division by a small number is 0, or NaN if that overflows."""
    matrix = torch.diag_embed(torch.cat([1 / factors, torch.zeros_like(factors[:, :1])], 1))[:, :2]
    grid = functional.affine_grid(matrix, list(x.shape), align_corners=True)
    return functional.grid_sample(x, grid * 10, align_corners=True)


def warped(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Interpolates at coordinates that roundings put on either side of a whole number."""
    rows, columns = (torch.linspace(-1, 1, size, dtype=x.dtype) for size in x.shape[-2:])
    y, across = torch.meshgrid(rows, columns, indexing="ij")
    at = torch.stack([across, y, torch.ones_like(y)], -1).view(1, -1, 3) @ torch.linalg.inv(matrix).mT
    grid = (at[..., :2] / at[..., 2:]).view(len(x), *x.shape[-2:], 2)
    return functional.grid_sample(x, grid, align_corners=True)


def warped_without_nans(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Replaces what it should return."""
    return warped(x, matrix).nan_to_num()


def resized(x: torch.Tensor) -> torch.Tensor:
    """Computes coordinates inside a kernel, which takes images of any number of dimensions."""
    images = x.reshape(-1, 1, *x.shape[-2:])
    return functional.interpolate(images, (67, 59), mode="bilinear").reshape(*x.shape[:-2], 67, 59)


def relative_error(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Divides by a number that depends on the dtype."""
    eps = torch.finfo(x.dtype).eps
    return (x - y).square().sum() / (y - y.mean(dtype=x.dtype)).square().sum().clamp_min(eps)


def blurred(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Raises if one argument is double and the other one was an integer."""
    weights = torch.ones(3, 1, 3, 3, dtype=y.dtype)
    x = x if x.is_floating_point() else x.float()
    return functional.conv2d(x, weights, groups=3) + functional.conv2d(y, weights, groups=3)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        pytest.param(enlarged, (IMAGE, torch.rand(2, 2) + 0.5), id="overflow"),
        pytest.param(warped, (IMAGE, HOMOGRAPHY), id="whole coordinates"),
        pytest.param(resized, (torch.rand(2, 90, 70),), id="coordinates of a kernel"),
        pytest.param(relative_error, (torch.rand(20), torch.rand(20)), id="eps of the dtype"),
        pytest.param(blurred, (IMAGE, IMAGE), id="reference refuses"),
    ],
)
def test_a_right_function_is_not_accused(function: Callable[..., torch.Tensor], arguments: tuple) -> None:
    opgate.check(function, arguments, checks=["value.reference", "value.special", "error.raises"])


def test_a_nan_that_is_lost_is_found_beside_those_of_no_weight() -> None:
    with pytest.raises(AssertionError, match=r"value\.special"):
        opgate.check(warped_without_nans, (IMAGE, HOMOGRAPHY), reference=warped, checks=["value.special"])


def test_memory_that_is_read_in_another_dtype_is_found() -> None:
    """The operator is compared with itself in double, where all arguments have the dtype that it reads."""

    def added(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if y.dtype.is_floating_point and y.dtype != x.dtype:
            y = y.contiguous().view(-1).view(x.dtype)[: x.numel()].view(x.shape)
        return x + y

    with pytest.raises(AssertionError, match=r"error\.raises"):
        opgate.check(added, (torch.rand(4, 6), torch.rand(4, 6)), checks=["error.raises"])
