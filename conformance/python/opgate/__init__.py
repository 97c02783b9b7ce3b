"""OpGate's Python half: what only Python can check, and models described for export and packaging."""

from opgate.domains import (
    TensorArgument,
    extremes,
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
from opgate.model import ModelSpec, model

__all__ = [
    "ModelSpec",
    "TensorArgument",
    "extremes",
    "indices",
    "infinities",
    "model",
    "nans",
    "offsets",
    "permutation",
    "positive",
    "signed_zeros",
    "sorted_indices",
    "special",
    "subnormals",
    "uniform",
    "values",
]
