"""What the operators in Python of this library promise: opgate.toml lists this module."""

import importlib.util

import opgate
import torch

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
