"""What the operators and functions in Python of this library promise: opgate.toml lists this module."""

import importlib.util

import opgate
import torch

from opgate_ops.functions import GeluTanh, LayerNorm

FLOATING = (torch.bfloat16, torch.float32, torch.float64)
# Samples about the kernels in CUDA, their vectors and shared memory, and what 2x3x257 shows as well.
LEFT_OUT = ("1x8,8,8", "4x32,32,32", "70x48,48,48", "1x12284,12284,12284", "offset")


def layer_norm_triton(spec: opgate.OpSpec) -> None:
    """The form in Triton keeps the promises of the form in CUDA, in Float."""
    spec.like("opgate_ops::layer_norm", without=LEFT_OUT)
    spec.dtypes(torch.float32, device="cuda")
    # One row, far from 0 beside its spread.
    spec.sample(opgate.uniform(1, 130, low=1e4, high=1.0008e4), opgate.uniform(130), opgate.uniform(130))


if importlib.util.find_spec("triton"):  # which torch's wheels without CUDA do not bring along
    import opgate_ops.layer_norm_triton  # noqa: F401 - registers the operator

    opgate.spec("opgate_py::layer_norm_triton")(layer_norm_triton)


@opgate.spec(GeluTanh)
def gelu_tanh(spec: opgate.OpSpec) -> None:
    """A function that no dispatcher knows, composed of operators of ATen: each device has them."""
    spec.schema("(Tensor x) -> Tensor")
    spec.dtypes(*FLOATING, device="cpu").draft()
    spec.reference(lambda x: torch.nn.functional.gelu(x, approximate="tanh"))
    spec.accuracy(opgate.ulps(8).scaled_by_inputs())
    spec.promises("deterministic", "layout_invariant", "differentiable", "twice_differentiable")
    spec.sample(opgate.uniform(7, low=-6, high=6))
    spec.sample(opgate.uniform(2, 3, 5, low=-6, high=6))


def terms_of_layer_norm(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """How large the terms are that each result is the sum of."""
    spread = ((input - input.mean(-1, keepdim=True)).square().mean(-1, keepdim=True) + eps).rsqrt()
    return (input.abs() + input.abs().mean(-1, keepdim=True)) * spread * weight.abs() + bias.abs()


@opgate.spec(LayerNorm)
def layer_norm(spec: opgate.OpSpec) -> None:
    """ATen adds up a row in another order if its elements are not adjacent, so layouts show in results."""
    spec.schema("(Tensor input, Tensor weight, Tensor bias, float eps=1e-05) -> Tensor")
    spec.dtypes(*FLOATING, device="cpu").draft()
    spec.reference(
        lambda input, weight, bias, eps: torch.nn.functional.layer_norm(
            input, weight.shape, weight, bias, eps
        )
    )
    spec.accuracy(opgate.ulps(8), scale=terms_of_layer_norm)
    spec.promises("deterministic", "differentiable", "twice_differentiable")
    spec.sample(opgate.uniform(2, 3, 17), opgate.uniform(17), opgate.uniform(17))
    spec.sample(opgate.uniform(17), opgate.uniform(17), opgate.uniform(17), 1e-3)
