"""The operators that are written in Python: PIL's crop and paste, numpy_sin, their registry."""

import opgate_ops  # noqa: F401 - the C++ operators beside which these are compared
import pytest
import torch
from opgate_ops import images, registry
from opgate_ops.images import crop, paste
from opgate_ops.numpy_sin import numpy_sin
from torch.autograd import gradcheck, gradgradcheck

# As published: image, box, dtype, whether with a gradient.
PUBLISHED = [
    ((3, 64, 64), [0, 0, 10, 10], torch.float32, False),
    ((3, 91, 91), [10, 0, 20, 10], torch.float32, True),
    ((3, 60, 60), [3, 4, 32, 20], torch.float64, False),
    ((3, 512, 512), [3, 4, 32, 45], torch.float64, True),
]


def an_image(shape: tuple[int, ...], dtype: torch.dtype, grad: bool = False, seed: int = 0) -> torch.Tensor:
    """Values far outside [0, 1], as no 8-bit image could hold them."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.uint8:
        return torch.randint(0, 256, shape, dtype=dtype, generator=generator)
    return torch.randn(shape, generator=generator).mul(100).to(dtype).requires_grad_(grad)


@pytest.mark.parametrize(("shape", "box", "dtype", "grad"), PUBLISHED)
def test_opcheck_passes_on_the_published_samples(
    shape: tuple[int, ...], box: list[int], dtype: torch.dtype, grad: bool
) -> None:
    image = an_image(shape, dtype, grad)
    torch.library.opcheck(crop, (image, box))
    patch = an_image((3, box[3] - box[1], box[2] - box[0]), dtype, grad, seed=1)
    torch.library.opcheck(paste, (image, patch, box[:2]))


@pytest.mark.parametrize("dtype", images.DTYPES)
@pytest.mark.parametrize("layout", ["contiguous", "channels last", "stepped", "expanded", "one channel"])
def test_crop_and_paste_give_bits_and_strides_of_the_cpp_operators(dtype: torch.dtype, layout: str) -> None:
    image = an_image((3, 20, 30), dtype)
    image = {
        "contiguous": image,
        "channels last": image.permute(1, 2, 0).contiguous().permute(2, 0, 1),
        "stepped": an_image((3, 40, 90), dtype)[:, ::2, ::3],
        "expanded": image[:1].expand(3, 20, 30),
        "one channel": image[:1],
    }[layout]
    cpp = torch.ops.opgate_ops
    for got, want in (
        (crop(image, [3, 4, 25, 20]), cpp.crop(image, [3, 4, 25, 20])),
        (crop(image, [3, 4, 3, 20]), cpp.crop(image, [3, 4, 3, 20])),
        (paste(image, image[:, :5, :6], [24, 15]), cpp.paste(image, image[:, :5, :6], [24, 15])),
        (paste(image, image[:, :0, :6], [24, 15]), cpp.paste(image, image[:, :0, :6], [24, 15])),
    ):
        assert torch.equal(got, want)
        assert got.stride() == want.stride()


@pytest.mark.parametrize("ops", [torch.ops.opgate_py, torch.ops.opgate_ops], ids=["python", "cpp"])
def test_derivatives_of_crop_and_paste_to_the_second_order(ops: object) -> None:
    image, patch = an_image((2, 6, 7), torch.float64, True), an_image((2, 3, 4), torch.float64, True)
    for function, inputs in (
        (lambda pic: ops.crop(pic, [1, 2, 5, 5]), (image,)),
        (lambda im1, im2: ops.paste(im1, im2, [1, 2]), (image, patch)),
        (lambda im1: ops.paste(im1, patch.detach(), [1, 2]), (image,)),
        (lambda im2: ops.paste(image.detach(), im2, [1, 2]), (patch,)),
    ):
        assert gradcheck(function, inputs)
        assert gradgradcheck(function, inputs)


def test_an_expanded_gradient_of_crop_is_pasted_where_it_was_taken() -> None:
    image = an_image((2, 6, 7), torch.float32, True)
    crop(image, [1, 2, 5, 5]).sum().backward()
    want = torch.zeros(2, 6, 7)
    want[:, 2:5, 1:5] = 1
    assert torch.equal(image.grad, want)


@pytest.mark.parametrize(
    ("call", "because"),
    [
        (lambda ops, x: ops.crop(x, [0, 0, 10, 4]), "leaves pic, which is 9 wide and 8 high"),
        (lambda ops, x: ops.crop(x, [-1, 0, 5, 4]), "leaves pic"),
        (lambda ops, x: ops.crop(x, [5, 0, 4, 4]), "inverted"),
        (lambda ops, x: ops.crop(x, [5, 0, 4]), "got 3 numbers"),
        (lambda ops, x: ops.crop(x[0], [0, 0, 4, 4]), "got 2 dimensions"),
        (lambda ops, x: ops.crop(x.int(), [0, 0, 4, 4]), "must be Half, BFloat16, Float, Double or Byte"),
        (lambda ops, x: ops.paste(x, x, [1, 0]), "leaves im1"),
        (lambda ops, x: ops.paste(x, x[:1], [0, 0]), "channels of im1"),
        (lambda ops, x: ops.paste(x, x.double(), [0, 0]), "im2 must have the dtype of im1"),
        (lambda ops, x: ops.paste(x, x, [0, 0, 0]), "got 3 numbers"),
    ],
)
@pytest.mark.parametrize("ops", [torch.ops.opgate_py, torch.ops.opgate_ops], ids=["python", "cpp"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bad_images_are_refused_with_and_without_data(
    ops: object, call: object, because: str, device: str
) -> None:
    with pytest.raises(RuntimeError, match=because):
        call(ops, an_image((3, 8, 9), torch.float32).to(device))


@pytest.mark.parametrize("ops", [torch.ops.opgate_py, torch.ops.opgate_ops], ids=["python", "cpp"])
def test_crop_compiles_to_one_graph_for_several_sizes(ops: object) -> None:
    compiled = torch.compile(lambda pic: ops.crop(pic, [1, 2, 5, 6]) * 2, fullgraph=True, dynamic=True)
    for shape in ((3, 8, 9), (3, 10, 12), (1, 6, 5)):
        image = an_image(shape, torch.float32)
        assert torch.equal(compiled(image), image[:, 2:6, 1:5] * 2)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((3,), torch.float32), ((0, 3), torch.float32), ((1, 2, 3, 4), torch.float64)]
)
@pytest.mark.parametrize("op", ["opgate_py.numpy_sin", "opgate_ops.sin_out"])
def test_sines_pass_opcheck_and_are_written_to_any_strides(
    op: str, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    namespace, name = op.split(".")
    operator = getattr(getattr(torch.ops, namespace), name).default
    x = torch.randn(shape, dtype=dtype)
    torch.library.opcheck(operator, (x, torch.empty_like(x)))
    stepped = torch.full((*shape[:-1], 2 * shape[-1]), 7, dtype=dtype)
    operator(x, stepped[..., ::2])
    torch.testing.assert_close(stepped[..., ::2], x.sin())
    assert (stepped[..., 1::2] == 7).all()


def test_a_sine_that_is_written_is_known_to_autograd() -> None:
    x = torch.randn(3, requires_grad=True)
    saved = torch.ones(3)
    product = saved * x
    torch.ops.opgate_ops.sin_out(torch.zeros(3), saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    output = torch.empty(3)
    torch.ops.opgate_ops.sin_out(x, output)
    output.sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_a_sine_may_be_written_over_its_input() -> None:
    x = torch.randn(100)
    want = x.sin()
    torch.ops.opgate_ops.sin_out(x, x)
    torch.testing.assert_close(x, want)


def test_sines_are_refused_where_they_do_not_fit() -> None:
    x = torch.randn(3)
    with pytest.raises(RuntimeError, match=r"output must have the sizes of input, \[3\], got \[4\]"):
        numpy_sin(x, torch.empty(4))
    with pytest.raises(RuntimeError, match="output must have the dtype of input"):
        numpy_sin(x, torch.empty(3, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.ops.opgate_ops.sin_out(x, torch.empty(1).expand(3))


def test_what_is_registered_is_in_the_dispatcher() -> None:
    assert set(registry.OPERATORS) >= {"crop", "paste", "numpy_sin"}
    for name, operator in registry.OPERATORS.items():
        assert getattr(torch.ops.opgate_py, name).default is operator._opoverload


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="opgate_py::crop is registered already"):

        @registry.register(fake=lambda x: x.new_empty(()))
        def crop(x: torch.Tensor) -> torch.Tensor: ...


def test_half_a_derivative_is_refused() -> None:
    with pytest.raises(ValueError, match="backward and setup_context belong together"):

        @registry.register(fake=lambda x: x.new_empty(()), backward=lambda ctx, grad: grad)
        def halved(x: torch.Tensor) -> torch.Tensor: ...
