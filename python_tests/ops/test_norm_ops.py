"""gelu_tanh, layer_norm, add and matmul: derivatives, promotion, and the functions of the same names."""

import itertools
from collections.abc import Callable

import opgate
import opgate_ops  # noqa: F401 - registers the operators
import pytest
import torch
from opgate_ops.add_matmul import AddMatmul
from opgate_ops.functions import GeluTanh, LayerNorm
from opgate_ops.testing import OperatorTester
from torch.autograd import gradcheck, gradgradcheck

OPS = torch.ops.opgate_ops


def gelu(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's."""
    return torch.nn.functional.gelu(x, approximate="tanh")


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    """PyTorch's."""
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)


@pytest.mark.parametrize("function", [GeluTanh.apply, OPS.gelu_tanh])
def test_gelu_equals_the_reference_forward_and_backward(function: Callable[..., torch.Tensor]) -> None:
    # Both round v, which reaches 25, so that in double the reference is no more accurate than the operator.
    tester = OperatorTester(function, gelu, ulps=64)
    tester.sample(opgate.uniform(4, 8, low=-6, high=6)).sample(opgate.uniform(2, 3, 5, 7)).check()


@pytest.mark.parametrize("function", [LayerNorm.apply, OPS.layer_norm])
@pytest.mark.parametrize("shape", [(8,), (4, 8), (2, 3, 4, 8)])
def test_layer_norm_equals_the_reference_forward_and_backward(
    function: Callable[..., torch.Tensor], shape: tuple[int, ...]
) -> None:
    tester = OperatorTester(function, layer_norm, ulps=64)
    tester.sample(opgate.uniform(*shape), opgate.uniform(8), opgate.uniform(8), 1e-5).check()


def test_the_tester_sees_a_gradient_that_is_summed_over_one_dimension_only() -> None:
    class SumsOverRows(LayerNorm):
        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
            d_input, d_weight, d_bias, none = LayerNorm.backward(ctx, grad)
            return d_input, d_weight, grad.sum(-2).flatten(0, -2)[-1] if grad.dim() > 2 else d_bias, none

    tester = OperatorTester(SumsOverRows.apply, layer_norm, ulps=64)
    tester.sample(opgate.uniform(4, 8), opgate.uniform(8), opgate.uniform(8), 1e-5).check()
    tester.sample(opgate.uniform(2, 4, 8), opgate.uniform(8), opgate.uniform(8), 1e-5)
    with pytest.raises(AssertionError, match="sample 1 .* gradient of tensor 2: .* differ"):
        tester.check()


def test_a_tester_without_samples_is_an_error() -> None:
    with pytest.raises(ValueError, match="no samples"):
        OperatorTester(gelu, gelu, ulps=1).check()


def double(*shape: int) -> torch.Tensor:
    """Random, of a fixed seed, and requires grad."""
    return torch.randn(
        shape, dtype=torch.float64, generator=torch.Generator().manual_seed(len(shape))
    ).requires_grad_()


DERIVATIVES = {
    "gelu_tanh": (OPS.gelu_tanh, (double(3, 4),)),
    "GeluTanh": (GeluTanh.apply, (double(3, 4),)),
    "layer_norm": (OPS.layer_norm, (double(2, 3, 5), double(5), double(5), 1e-3)),
    "LayerNorm": (LayerNorm.apply, (double(2, 3, 5), double(5), double(5), 1e-3)),
    "layer_norm of one row": (OPS.layer_norm, (double(5), double(5), double(5), 1e-3)),
    "matmul": (OPS.matmul, (double(3, 4), double(4, 2))),
    "add.Tensor": (OPS.add.Tensor, (double(3, 1, 4), double(2, 1))),
    "add.Scalar": (OPS.add.Scalar, (double(3), 2.0)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_first_and_second_derivatives_are_the_numeric_ones(name: str) -> None:
    function, inputs = DERIVATIVES[name]
    assert gradcheck(function, inputs, check_undefined_grad=True, check_batched_grad=False)
    assert gradgradcheck(function, inputs, gen_non_contig_grad_outputs=True)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_each_subset_of_inputs_has_the_gradients_that_all_of_them_have(name: str) -> None:
    function, inputs = DERIVATIVES[name]
    tensors = [i for i, value in enumerate(inputs) if isinstance(value, torch.Tensor)]

    def gradients(chosen: tuple[int, ...]) -> dict[int, torch.Tensor]:
        given = [
            value.detach().requires_grad_(i in chosen) if i in tensors else value
            for i, value in enumerate(inputs)
        ]
        out = function(*given)
        grads = torch.autograd.grad(out, [given[i] for i in chosen], torch.ones(()).double().expand_as(out))
        return dict(zip(chosen, grads, strict=True))

    everything = gradients(tuple(tensors))
    for count in range(1, len(tensors)):
        for chosen in itertools.combinations(tensors, count):
            for i, grad in gradients(chosen).items():
                torch.testing.assert_close(grad, everything[i], rtol=1e-12, atol=1e-12)


DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("second", DTYPES)
def test_add_promotes_as_pytorch_does(first: torch.dtype, second: torch.dtype) -> None:
    x, other = torch.tensor([[0, 1, 100]]).to(first), torch.tensor([[1], [100]]).to(second)
    for a, b in ((x, other), (x, other[0, 0]), (x[0, 2], other)):
        got, want = OPS.add(a, b), torch.add(a, b)
        assert got.dtype == want.dtype
        assert torch.equal(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 3, -2, 1.5])
def test_add_of_a_number_promotes_as_pytorch_does(dtype: torch.dtype, number: float) -> None:
    x = torch.tensor([0, 1, 100]).to(dtype)
    got, want = OPS.add(x, number), torch.add(x, number)
    assert got.dtype == want.dtype
    assert torch.equal(got, want)


def test_add_matmul_is_the_published_model() -> None:
    model = AddMatmul()
    x = torch.randn(1000, 100)
    torch.testing.assert_close(model(x), (x + 1) @ model.weight, rtol=1e-4, atol=1e-4)
    assert model.weight.shape == (100, 200)
