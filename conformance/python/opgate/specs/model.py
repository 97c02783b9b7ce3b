"""Models: whole modules that are exported, packaged and run beside the operators.

@opgate.model("IdentityModel")
def identity_model(spec: opgate.ModelSpec) -> None:
    spec.module(IdentityModel)
    spec.dtypes(torch.float32)
    spec.sample(opgate.uniform(1, 3, 224, 224))
    spec.graph("aten.conv2d.default", "higher_order.call_torchbind", ...)
    spec.reference(lambda x: x)
    spec.accuracy(opgate.exact())
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opgate.specs.accuracy import Accuracy
from opgate.specs.domains import TensorArgument
from opgate.specs.dtypes import dtype_name
from opgate.specs.registering import Describe, registering
from opgate.specs.spec import device_types

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch


@dataclass
class ModelSpec:
    """What one model promises. The function that `opgate.model` decorates fills it in."""

    name: str
    where: str
    factory: Callable[[], torch.nn.Module] | None = None
    samples: list[list[TensorArgument]] = field(default_factory=list)
    dtype_names: list[str] = field(default_factory=list)
    nodes: list[str] | None = None
    expected: Callable[..., torch.Tensor] | None = None
    near: Accuracy | None = None
    scale_function: Callable[..., torch.Tensor] | None = None

    def module(self, factory: Callable[[], torch.nn.Module]) -> None:
        """Sets the function that makes the module. It is called for each use, after torch.manual_seed(0)."""
        self.factory = factory

    def dtypes(self, *dtypes: torch.dtype) -> None:
        """Sets the dtypes of the model's inputs, on every device."""
        self.dtype_names = [dtype_name(dtype) for dtype in dtypes]

    def sample(self, *arguments: TensorArgument) -> None:
        """Adds one set of inputs, in the order of forward(): opgate.uniform(...) and the like.

        Raises TypeError for other types, such as tensors.
        """
        for argument in arguments:
            if not isinstance(argument, TensorArgument):
                raise TypeError(
                    f"{self.where}: spec.sample takes opgate.uniform(...), not a {type(argument).__name__}: "
                    "values are generated, so that C++ has the same values"
                )
        self.samples.append(list(arguments))

    def graph(self, *nodes: str) -> None:
        """Sets the calls of the exported graph, in order, such as `aten.conv2d.default`."""
        self.nodes = list(nodes)

    def reference(self, expected: Callable[..., torch.Tensor]) -> None:
        """Sets what eager must return for the same inputs. `expected` may return a wider dtype."""
        self.expected = expected

    def accuracy(self, promised: Accuracy, scale: Callable[..., torch.Tensor] | None = None) -> None:
        """Sets how close eager's results must be to the reference, and with `exact()` compiled ones, too.

        With `ulps(n)`, compiled results must be within 2 n ulps of eager's, at the largest element of each
        result. Without this word eager must return the reference's bits, and compiled results must be within
        8 ulps of eager's. Code that holds only operators of the project has eager's bits on the CPU.

        `scale` takes the same inputs and returns the magnitude of the terms that each result is the sum of.
        Eager's errors are measured in ulps of that magnitude where it is larger than the result. Raises
        ValueError for `scaled_by_inputs()`, because a model has weights beside its inputs.
        """
        if promised.by_inputs:
            raise ValueError(
                f"{self.where}: an accuracy of a model cannot be scaled_by_inputs(), because its weights "
                "have signs, too; give spec.accuracy(..., scale=...)"
            )
        if scale is not None and promised.bound is None:
            raise ValueError(
                f"{self.where}: exact() has no ulps that a scale could measure; give opgate.ulps"
            )
        self.near = promised if scale is None else promised.scaled_by_inputs()
        self.scale_function = scale

    def validate(self) -> None:
        """Raises ValueError, with file and line of the spec, for a part of the spec that is missing."""
        for word, value in (
            ("module", self.factory),
            ("dtypes", self.dtype_names),
            ("sample", self.samples),
            ("graph", self.nodes),
            ("reference", self.expected),
        ):
            if not value:
                raise ValueError(
                    f"{self.where}: the spec of model {self.name} names no {word}: add spec.{word}(...)"
                )

    def as_json(self) -> dict[str, Any]:
        """Returns the description from which the native plan is made."""
        return {
            "kind": "model",
            "name": self.name,
            "where": self.where,
            "dtypes": dict.fromkeys(device_types(), self.dtype_names),
            "accuracy": self.near and self.near.as_json(),
            "scale": self.scale_function is not None,
            "samples": [
                {"arguments": [argument.as_json() for argument in sample], "where": self.where}
                for sample in self.samples
            ],
        }


MODELS: dict[str, ModelSpec] = {}


def model(name: str) -> Callable[[Describe[ModelSpec]], Describe[ModelSpec]]:
    """Registers the model that the decorated function describes.

    Raises ValueError for an incomplete description, or a second model of that name.
    """

    return registering(name, MODELS, lambda where: ModelSpec(name, where), ModelSpec.validate)
