"""crop and paste through PIL: ``torch.ops.opgate_py.crop`` and ``.paste``, the same as the C++ operators.

An image [C, H, W] goes to PIL and back as the bytes of its rows. Nothing is converted to 8-bit colours, so
that values of any range, and their gradients, are unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image

from opgate_ops.registry import register

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.uint8)


def _check_image(op: str, name: str, image: torch.Tensor) -> None:
    torch._check(
        image.dtype in DTYPES,
        lambda: f"{op}: {name} must be Half, BFloat16, Float, Double or Byte, got {image.dtype}",
    )
    torch._check(
        image.dim() == 3, lambda: f"{op}: {name} must be an image [C, H, W], got {image.dim()} dimensions"
    )


def _check_box(op: str, name: str, image: torch.Tensor, box: Sequence[int]) -> None:
    left, upper, right, lower = box
    text = f"the box (left {left}, upper {upper}, right {right}, lower {lower})"
    torch._check(left <= right, lambda: f"{op}: {text} is inverted")
    torch._check(upper <= lower, lambda: f"{op}: {text} is inverted")
    _, height, width = image.shape
    outside = f"{op}: {text} leaves {name}, which is {width} wide and {height} high"
    for inside in (left >= 0, upper >= 0, right <= width, lower <= height):
        torch._check(inside, lambda: outside)


def _check_crop(pic: torch.Tensor, box: Sequence[int]) -> None:
    _check_image("crop", "pic", pic)
    torch._check(
        len(box) == 4, lambda: f"crop: box must be (left, upper, right, lower), got {len(box)} numbers"
    )
    _check_box("crop", "pic", pic, box)


def _check_paste(im1: torch.Tensor, im2: torch.Tensor, coord: Sequence[int]) -> None:
    _check_image("paste", "im1", im1)
    _check_image("paste", "im2", im2)
    torch._check(
        im1.dtype == im2.dtype, lambda: f"paste: im2 must have the dtype of im1, {im1.dtype}, got {im2.dtype}"
    )
    torch._check(
        im1.device == im2.device,
        lambda: f"paste: im2 must be on the device of im1, {im1.device}, got {im2.device}",
    )
    torch._check(
        im1.shape[0] == im2.shape[0],
        lambda: f"paste: im2 must have the {im1.shape[0]} channels of im1, got {im2.shape[0]}",
    )
    torch._check(len(coord) == 2, lambda: f"paste: coord must be (left, upper), got {len(coord)} numbers")
    left, upper = coord
    _check_box("paste", "im1", im1, (left, upper, left + im2.shape[2], upper + im2.shape[1]))


def _empty_image(like: torch.Tensor, channels: int, height: int, width: int) -> torch.Tensor:
    """An uninitialised image [C, H, W] whose memory is [H, W, C], as that of PIL's images."""
    return like.new_empty(height, width, channels).permute(2, 0, 1)


def _to_pil(image: torch.Tensor) -> Image.Image:
    """One "pixel" of the greyscale image is one byte of the tensor, [H, W, C] in memory."""
    # Always a copy: one channel counts as contiguous with any stride, but view() as bytes needs stride 1.
    rows = image.detach().cpu().permute(1, 2, 0).clone(memory_format=torch.contiguous_format)
    rows = rows.view(torch.uint8)
    return Image.fromarray(rows.reshape(rows.shape[0], -1).numpy())


def _from_pil(image: Image.Image, like: torch.Tensor) -> torch.Tensor:
    memory = torch.frombuffer(bytearray(image.tobytes()), dtype=like.dtype)
    return memory.view(image.height, -1, like.shape[0]).to(like.device).permute(2, 0, 1)


def _pixel_bytes(image: torch.Tensor) -> int:
    return image.shape[0] * image.element_size()


def _crop_fake(pic: torch.Tensor, box: Sequence[int]) -> torch.Tensor:
    _check_crop(pic, box)
    left, upper, right, lower = box
    return _empty_image(pic, pic.shape[0], lower - upper, right - left)


def _crop_setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    pic, box = inputs
    ctx.shape, ctx.corner = pic.shape, box[:2]


def _crop_backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
    return paste(grad.new_zeros(ctx.shape), grad, ctx.corner), None


@register(fake=_crop_fake, backward=_crop_backward, setup_context=_crop_setup)
def crop(pic: torch.Tensor, box: Sequence[int]) -> torch.Tensor:
    """Copies the pixels of `pic` [C, H, W] in `box` = (left, upper, right, lower), bit for bit.

    The result is a new image [C, lower - upper, right - left] whose memory is [H, W, C]. Differentiable to
    any order. Raises RuntimeError for a box that is inverted or leaves the image, and for dtypes other than
    Half, BFloat16, Float, Double and Byte.
    """
    _check_crop(pic, box)
    left, upper, right, lower = box
    if pic.shape[0] == 0 or left == right or upper == lower:
        return _empty_image(pic, pic.shape[0], lower - upper, right - left)
    pixel = _pixel_bytes(pic)
    return _from_pil(_to_pil(pic).crop((left * pixel, upper, right * pixel, lower)), pic)


def _paste_fake(im1: torch.Tensor, im2: torch.Tensor, coord: Sequence[int]) -> torch.Tensor:
    _check_paste(im1, im2, coord)
    return _empty_image(im1, *im1.shape)


def _paste_setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    _, im2, coord = inputs
    ctx.shape, ctx.coord = im2.shape, coord


def _paste_backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
    (left, upper), (_, height, width) = ctx.coord, ctx.shape
    below = paste(grad, grad.new_zeros(ctx.shape), ctx.coord)
    return below, crop(grad, [left, upper, left + width, upper + height]), None


@register(fake=_paste_fake, backward=_paste_backward, setup_context=_paste_setup)
def paste(im1: torch.Tensor, im2: torch.Tensor, coord: Sequence[int]) -> torch.Tensor:
    """`im1` [C, H, W] with `im2` [C, h, w] in place of its pixels from `coord` = (left, upper) on.

    Pixels are copied bit for bit.

    The result is a new image whose memory is [H, W, C]. Differentiable to any order. Raises RuntimeError if
    `im2` leaves `im1` or differs in dtype, device or channels.
    """
    _check_paste(im1, im2, coord)
    if im1.numel() == 0 or im2.numel() == 0:
        return _empty_image(im1, *im1.shape).copy_(im1)
    image = _to_pil(im1)
    image.paste(_to_pil(im2), (coord[0] * _pixel_bytes(im1), coord[1]))
    return _from_pil(image, im1)
