"""Specs written in Python, for operators written in Python or in C++. The names are those of opgate/spec.h.

@opgate.spec("my_ops::relu")
def relu(spec: opgate.OpSpec) -> None:
    spec.dtypes(*opgate.floating())
    spec.reference(lambda x: x.clamp_min(0))  # runs in double
    spec.accuracy(opgate.exact())             # or opgate.ulps(4): there is no default
    spec.promises("deterministic", "differentiable")
    for shape in [(7,), (4, 8), (2, 3, 257)]:
        spec.sample(opgate.uniform(*shape))
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opgate.specs.accuracy import Accuracy
from opgate.specs.bench import Bench, SpeedLimit
from opgate.specs.domains import DeviceOfCase, GeneratorArgument, TensorArgument
from opgate.specs.dtypes import dtype_name
from opgate.specs.names import subject_name
from opgate.specs.registering import Describe, registering

if TYPE_CHECKING:  # a worker must be able to start without torch, to report that torch is missing
    import torch


def device_types() -> tuple[str, ...]:
    """The devices that OpGate knows: `cpu` and accelerators, such as `cuda`."""
    from opgate import _engine

    return tuple(_engine.device_types())


def argument_json(argument: Any, where: str) -> Any:
    """One argument of a sample in the format of spec/json/sample_json.h. Raises TypeError for other types."""
    if isinstance(argument, TensorArgument | GeneratorArgument | DeviceOfCase):
        return argument.as_json()
    if type(argument).__name__ == "dtype":
        from opgate import _engine

        return _engine.dtype_number(dtype_name(argument))
    if isinstance(argument, bool | int | str) or argument is None:
        return argument
    if isinstance(argument, float):
        return argument if math.isfinite(argument) else {"number": str(argument)}
    if isinstance(argument, complex):
        return {"complex": [argument.real, argument.imag]}
    if isinstance(argument, Sequence):
        for kind in (int | float, str):
            if all(isinstance(part, kind) for part in argument):
                return list(argument)
        if all(isinstance(part, TensorArgument) or part is None for part in argument):
            return {"tensors": [None if part is None else part.as_json() for part in argument]}
    raise TypeError(
        f"{where}: a sample takes opgate.uniform(...) and the like for tensors, opgate.generator(seed), "
        f"opgate.device_of_case, numbers, booleans, strings, dtypes, None and lists of one kind; not a "
        f"{type(argument).__name__}"
    )


@dataclass
class Sample:
    """One set of arguments in schema order; trailing arguments with a default may be left out.

    The fields are those of spec/json/sample_json.h.
    """

    name: str
    arguments: list[Any]
    where: str
    because: str = ""
    """For a sample that must be rejected: a part of the exception's message."""
    raises: str = ""
    """For a sample that must be rejected: the name of the exception's type; empty for any type."""


@dataclass
class OpSpec:
    """What one operator promises. The function that `opgate.spec` decorates fills it in."""

    name: str
    where: str
    function: Callable[..., Any] | None = None
    """The function that the spec was given, if its subject is no operator."""
    written_schema: str = ""
    accepted: dict[str, list[str]] = field(default_factory=dict)
    reference_function: Callable[..., Any] | None = None
    reference_operator: str = ""
    scale_function: Callable[..., Any] | None = None
    near: Accuracy | None = None
    gradients_near: Accuracy | None = None
    promised: set[str] = field(default_factory=set)
    samples: list[Sample] = field(default_factory=list)
    rejections: list[Sample] = field(default_factory=list)
    benches: list[Bench] = field(default_factory=list)
    named: dict[str, set[Any]] = field(default_factory=dict)
    """What the words of spec/naming_words.h name: arguments, conditions, or indices of results."""
    liked: dict[str, Any] | None = None
    """The operator whose spec in C++ this one begins with, and those of its samples that are left out."""
    is_draft: bool = False
    planted: dict[str, str] | None = None

    def dtypes(self, *dtypes: torch.dtype, device: str | None = None) -> OpSpec:
        """Sets the dtypes accepted on every device, or on one. All others must raise and name the dtype.

        Without dtypes, the operator is not promised on the device.
        """
        for place in device_types() if device is None else (device,):
            self.accepted.pop(place, None)
            if dtypes:
                self.accepted[place] = [dtype_name(dtype) for dtype in dtypes]
        return self

    def schema(self, text: str) -> OpSpec:
        """Sets the schema of a function: "(Tensor x, Tensor(a!) out, *, float eps=1e-06) -> ()".

        Without it, the schema is that of its recording, or of its annotations, which do not show the
        arguments that it writes. Raises ValueError for an operator, which has a schema of its own.
        """
        if "::" in self.name:
            raise ValueError(
                f"{caller()}: {self.name} is an operator, and has the schema of its registration"
            )
        self.written_schema = text
        return self

    def like(self, operator: str, without: Sequence[str] = ()) -> OpSpec:
        """Begins with the spec in C++ of another operator, of which this one is a second form.

        Everything but its benches holds here as well: samples, reference, accuracy, promises and rejections.
        Further words add to these, and `dtypes`, `reference` and `accuracy` replace the other's. `without`
        names samples that are about the other's kernels alone.
        """
        self.liked = {"operator": operator, "without": list(without)}
        return self

    def reference(self, function: Callable[..., Any] | str) -> OpSpec:
        """Sets what the operator must compute: a function, or an operator such as "aten::clone".

        A function gets the operator's arguments: contiguous, floating-point tensors widened to double,
        keyword-only arguments by keyword. It returns what the operator returns. Where the spec promises
        gradients, it must be differentiable.
        """
        self.reference_function = None if isinstance(function, str) else function
        self.reference_operator = function if isinstance(function, str) else ""
        return self

    def accuracy(self, promised: Accuracy, scale: Callable[..., Any] | None = None) -> OpSpec:
        """Sets how close results must be to the reference; there is no default.

        `scale` takes the same arguments as the reference, and returns for each result the magnitude of the
        terms that it is the sum of. Errors are measured in ulps of that where it is larger than the result.
        """
        self.near = promised if scale is None else promised.scaled_by_inputs()
        self.scale_function = scale
        return self

    def gradient_accuracy(self, promised: Accuracy) -> OpSpec:
        """Sets how close gradients must be to the reference's: in ulps of the largest one; default 64."""
        self.gradients_near = promised
        return self

    def promises(self, *words: str) -> OpSpec:
        """Adds promises by name: "deterministic", "batch_invariant", ...; opgate/promises.h explains them."""
        self.promised |= set(words)
        return self

    def sample(self, *arguments: Any, named: str = "") -> OpSpec:
        """Adds one set of arguments. It needs a name where another sample has the same shapes."""
        where = caller()
        self.samples.append(Sample(named, [argument_json(value, where) for value in arguments], where))
        return self

    def rejects(
        self, name: str, *arguments: Any, because: str = "", raises: type[Exception] | None = None
    ) -> OpSpec:
        """Adds arguments that must raise an exception whose message contains `because`.

        `raises` is the type of the exception, or one that its type derives from: ValueError for C++'s
        TORCH_CHECK_VALUE, RuntimeError for TORCH_CHECK. Without it, any type will do.
        """
        where = caller()
        described = [argument_json(value, where) for value in arguments]
        self.rejections.append(
            Sample(name, described, where, because, "" if raises is None else raises.__name__)
        )
        return self

    def bench(
        self,
        *arguments: Any,
        named: str = "",
        dtype: torch.dtype | None = None,
        against: str = "",
        forward: SpeedLimit = None,
        backward: SpeedLimit = None,
    ) -> OpSpec:
        """Adds arguments on which `opgate bench` times an operator written in C++; opgate/bench.h has more.

        The baseline is the operator `against`, such as "aten::clone"; without it, the reference, if that is
        an operator. `forward` and `backward` are the least ratios of the baseline's time to the operator's,
        such as 0.95, or for each device one: {"cpu": 0.95, "cuda": 2}. `dtype` is that of the tensors, by
        default float32.
        """
        where = caller()
        described = [argument_json(value, where) for value in arguments]
        chosen = "float32" if dtype is None else dtype_name(dtype)
        self.benches.append(Bench(named, described, where, chosen, against, forward, backward))
        return self

    def trusts(self, argument: str) -> OpSpec:
        """The caller is responsible for the values of this argument: no bad values are tried."""
        return self._names("trusts", argument)

    def wants_contiguous(self, argument: str) -> OpSpec:
        """If this argument is not contiguous, the operator may raise an exception whose message names it."""
        return self._names("wants_contiguous", argument)

    def unspecified(self, index: int) -> OpSpec:
        """The values of result `index` are not promised, such as the order of ties, or a workspace."""
        return self._names("unspecified", index)

    def on_cpu(self, index: int) -> OpSpec:
        """Result `index` lies on the CPU wherever the arguments are, such as lengths that a launch needs."""
        return self._names("on_cpu", index)

    def unspecified_for(self, condition: str) -> OpSpec:
        """Results are not promised under this condition, and the cases that bring it about are not planned.

        "overlap": an argument that is written shares memory with another one. "nan": an element of an
        argument is NaN or infinite.
        """
        return self._names("unspecified_for", condition)

    def draft(self) -> OpSpec:
        """Marks the spec as unfinished: what it does not say is not checked.

        A draft needs no reference. Without one, checks that compare with it are not planned, and calls that
        must agree are compared with each other, within `accuracy` (or 64 ulps) of the largest element. Dtypes
        that are not declared are not tried. The operator may accept the bad inputs that OpGate makes itself,
        but must neither crash on them nor read out of bounds.
        """
        self.is_draft = True
        return self

    def planted_for(self, check: str, twin: str) -> OpSpec:
        """The operator is wrong on purpose: `check` must fail for it, and no check may fail for `twin`."""
        self.planted = {"check": check, "twin": twin}
        return self

    def _names(self, word: str, named: str | int) -> OpSpec:
        """Adds to what `word` names; the methods of the words call it."""
        self.named.setdefault(word, set()).add(named)
        return self

    def as_json(self) -> dict[str, Any]:
        """The description from which the plan is made. Raises RuntimeError if there is no such operator."""
        from opgate import _engine

        try:
            schema = _engine.schema(self.name)
        except RuntimeError as error:
            raise RuntimeError(f"{self.where}: {error}") from error
        return {
            "kind": "op",
            "name": self.name,
            "schema": schema,
            "where": self.where,
            "like": self.liked,
            "dtypes": self.accepted,
            "reference": self.reference_operator or (self.reference_function is not None),
            "scale": self.scale_function is not None,
            "accuracy": self.near and self.near.as_json(),
            "gradient_accuracy": self.gradients_near and self.gradients_near.as_json(),
            "promises": sorted(self.promised),
            "samples": [vars(sample) for sample in self.samples],
            "benches": [bench.as_json() for bench in self.benches],
            "rejections": [vars(sample) for sample in self.rejections],
            "named": {word: sorted(named) for word, named in self.named.items()},
            "draft": self.is_draft,
            "planted": self.planted,
        }


SPECS: dict[str, OpSpec] = {}


def caller() -> str:
    """file:line of the code that called the caller of this function."""
    frame = sys._getframe(2)  # inspect.stack() would read the sources of every frame
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def spec(subject: str | Callable[..., Any]) -> Callable[[Describe[OpSpec]], Describe[OpSpec]]:
    """Registers the promises of an operator or of a function.

    `subject` is "namespace::op", "namespace::op.overload", "module:function", an overload, or a function that
    a module holds. Raises ValueError for a second spec of that subject, and for a function that no other
    process could import by its name; TypeError for what cannot be called.
    """
    name = subject_name(subject)
    function = None if isinstance(subject, str) or "::" in name else subject
    if "<" in name:
        raise ValueError(f"{caller()}: no process can import {name}; give a function that a module holds")

    return registering(name, SPECS, lambda where: OpSpec(name, where, function))
