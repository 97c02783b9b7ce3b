"""Specs of TorchBind classes, written in Python beside a model in plain Python.

class Counter:  # behaves as torch.classes.my_ops.Counter must
    def __init__(self, start: int) -> None:
        self.count = start

    def add(self, n: int) -> int:
        self.count += n
        return self.count


@opgate.class_spec("my_ops::Counter")
def counter(spec: opgate.ClassSpec) -> None:
    spec.dtypes(*opgate.floating())
    spec.model(Counter).construct(3)
    spec.method("add", (1,), (-4,))
    spec.method("get", function=lambda counter: counter.count)

From this, OpGate makes the random sequences of calls that opgate/class_spec.h describes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opgate.specs.accuracy import Accuracy
from opgate.specs.dtypes import dtype_name
from opgate.specs.registering import Describe, registering
from opgate.specs.spec import Sample, argument_json, caller, device_types

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch


@dataclass
class Method:
    """One method: what the model does for it, and the arguments with which it may be called at any time."""

    where: str
    function: Callable[..., Any]
    calls: list[Sample]
    may_share: bool


@dataclass
class ClassSpec:
    """What one TorchBind class promises. The function that `opgate.class_spec` decorates fills it in."""

    name: str
    where: str
    accepted: dict[str, list[str]] = field(default_factory=dict)
    near: Accuracy | None = None
    factory: Callable[..., Any] | None = None
    constructions: list[Sample] = field(default_factory=list)
    methods: dict[str, Method] = field(default_factory=dict)
    exported: bool = True

    def dtypes(self, *dtypes: torch.dtype, device: str | None = None) -> ClassSpec:
        """Sets the dtypes that tensor arguments are tried in, on every device or on one."""
        for place in device_types() if device is None else (device,):
            self.accepted[place] = [dtype_name(dtype) for dtype in dtypes]
        return self

    def accuracy(self, promised: Accuracy) -> ClassSpec:
        """Sets how near results must be to the model's. Without this word they have the same bits."""
        self.near = promised
        return self

    def model(self, factory: Callable[..., Any]) -> ClassSpec:
        """Sets the class, or the function, that makes the model from the constructor's arguments.

        OpGate never writes to arguments and results of the model, which may keep and return any tensor.
        """
        self.factory = factory
        return self

    def construct(self, *arguments: Any, named: str = "") -> ClassSpec:
        """Adds one set of constructor arguments; trailing ones with a default may be left out."""
        where = caller()
        name = named or ("" if arguments else "default")  # a part of a case id must not be empty
        self.constructions.append(Sample(name, [argument_json(value, where) for value in arguments], where))
        return self

    def method(
        self,
        name: str,
        *calls: Sequence[Any],
        function: Callable[..., Any] | None = None,
        may_share: bool = False,
    ) -> ClassSpec:
        """Adds a method, and the argument sets with which it may be called; without any, it takes none.

        The model has a method of this name, or `function` takes the model as its first argument. Where the
        model raises, the class must raise too. `may_share` allows the result to share memory with an argument
        or with the object. Raises ValueError for a second method of that name, TypeError for a set that is
        no tuple.
        """
        where = caller()
        if name in self.methods:
            raise ValueError(f"{where}: {name} is described already, at {self.methods[name].where}")
        for call in calls:
            if not isinstance(call, tuple | list):
                raise TypeError(
                    f'{where}: each set of arguments is a tuple, as in spec.method("{name}", (1,), (2,)); '
                    f"not a {type(call).__name__}"
                )
        samples = [Sample("", [argument_json(value, where) for value in call], where) for call in calls]
        of_model = function or (lambda model, *arguments: getattr(model, name)(*arguments))
        self.methods[name] = Method(where, of_model, samples, may_share)
        return self

    def not_exported(self) -> ClassSpec:
        """The class is not meant for torch.export: it needs neither def_pickle nor __obj_flatten__."""
        self.exported = False
        return self

    def as_json(self) -> dict[str, Any]:
        """The description from which the plan is made; see spec/json/class_json.h."""
        return {
            "kind": "class",
            "name": self.name,
            "where": self.where,
            "dtypes": self.accepted,
            "accuracy": self.near and self.near.as_json(),
            "model": self.factory is not None,
            "samples": [vars(sample) for sample in self.constructions],
            "methods": [
                {
                    "name": name,
                    "where": method.where,
                    "calls": [vars(call) for call in method.calls],
                    "may_share": method.may_share,
                }
                for name, method in self.methods.items()
            ],
            "exported": self.exported,
        }

    def functions(self) -> dict[str, Callable[..., Any]]:
        """What the engine calls in this process: the model's factory as "__init__", and each method."""
        made = {} if self.factory is None else {"__init__": self.factory}
        return made | {name: method.function for name, method in self.methods.items()}


CLASSES: dict[str, ClassSpec] = {}


def class_spec(name: str) -> Callable[[Describe[ClassSpec]], Describe[ClassSpec]]:
    """Registers the promises of the TorchBind class `name`, "namespace::Class".

    Raises ValueError for a second spec of that class.
    """

    return registering(name, CLASSES, lambda where: ClassSpec(name, where))
