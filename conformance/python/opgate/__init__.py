"""OpGate's Python half: the checks that need Python, and specs and models written in Python."""

from typing import TYPE_CHECKING, Any

import opgate.modules.kernel_folders  # noqa: F401  (finds the modules of kernels)
from opgate.specs.accuracy import Accuracy, exact, ulps
from opgate.specs.class_spec import ClassSpec, class_spec
from opgate.specs.domains import (
    GeneratorArgument,
    TensorArgument,
    device_of_case,
    extremes,
    generator,
    indices,
    infinities,
    nans,
    offsets,
    permutation,
    positive,
    signed_zeros,
    sorted_indices,
    special,
    subnormals,
    uniform,
    values,
)
from opgate.specs.dtypes import every_dtype, floating, integral
from opgate.specs.model import ModelSpec, model
from opgate.specs.onnx_forms import onnx
from opgate.specs.spec import OpSpec, spec

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    from opgate.assertion.checking import check


def __getattr__(name: str) -> Any:
    """Imports `check` when it is first used, because it needs torch and the engine."""
    if name != "check":
        raise AttributeError(f"module 'opgate' has no attribute {name!r}")
    from opgate.assertion.checking import check

    return check


__all__ = [
    "Accuracy",
    "ClassSpec",
    "GeneratorArgument",
    "ModelSpec",
    "OpSpec",
    "TensorArgument",
    "check",
    "class_spec",
    "device_of_case",
    "every_dtype",
    "exact",
    "extremes",
    "floating",
    "generator",
    "indices",
    "infinities",
    "integral",
    "model",
    "nans",
    "offsets",
    "onnx",
    "permutation",
    "positive",
    "signed_zeros",
    "sorted_indices",
    "spec",
    "special",
    "subnormals",
    "ulps",
    "uniform",
    "values",
]
