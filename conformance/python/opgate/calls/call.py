"""One call in Python: its subject, its inputs (which the engine regenerates), and a module that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch

from opgate import _engine
from opgate.calls.case_id import CaseId
from opgate.calls.compiled_graph import computing_operators
from opgate.functions.registered import FUNCTIONS, operator_of
from opgate.specs.model import MODELS, ModelSpec


class OpModule(torch.nn.Module):
    """Calls one operator overload. The arguments that are not tensors are constants of the module.

    `arguments` is in schema order, with None in place of each tensor that forward() takes. `places` has, for
    each of these tensors, the position of its argument, and its index if that argument is a list.
    """

    def __init__(
        self, overload: torch._ops.OpOverload, arguments: list[Any], places: list[tuple[int, int | None]]
    ) -> None:
        super().__init__()
        self.overload = overload
        self.arguments = arguments
        self.places = places
        # Not in forward(), because Dynamo of torch 2.11 cannot trace what reads a schema.
        self.keyword_names = keyword_names(overload)

    def forward(self, *tensors: torch.Tensor) -> Any:
        """Inserts the tensors into the arguments and calls the overload."""
        arguments = [list(value) if isinstance(value, list) else value for value in self.arguments]
        for (position, element), tensor in zip(self.places, tensors, strict=True):
            if element is None:
                arguments[position] = tensor
            else:
                arguments[position][element] = tensor
        positional, keywords = split_keywords(arguments, self.keyword_names)
        return self.overload(*positional, **keywords)


def keyword_names(overload: torch._ops.OpOverload) -> dict[int, str]:
    """The names of the keyword-only arguments, by their position in the schema."""
    formals = enumerate(overload._schema.arguments)
    return {position: formal.name for position, formal in formals if formal.kwarg_only}


def split_keywords(arguments: list[Any], names: dict[int, str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Splits arguments in schema order into positional and keyword-only ones, which have these names."""
    positional = tuple(value for position, value in enumerate(arguments) if position not in names)
    return positional, {
        name: arguments[position] for position, name in names.items() if position < len(arguments)
    }


def overload_of(name: str) -> torch._ops.OpOverload:
    """The overload that specs name "namespace::op", "namespace::op.overload" or "module:function"."""
    namespace, plain = operator_of(name).split("::")
    plain, _, overload = plain.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), plain), overload or "default")


class Packages(Protocol):
    """The AOTInductor packages of a run, as checks see them; `PackageStore` implements it."""

    def not_tried(self, call: Call) -> str | None:
        """The reason why no package of the call was attempted; None if one was."""

    def outputs(self, call: Call) -> list[torch.Tensor]:
        """What the package returned for the call. Raises RuntimeError if it returned nothing."""

    def outputs_for(self, call: Call, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """What the package returns for the call with other inputs. Raises RuntimeError if it raises."""


class Refused(RuntimeError):
    """The operator raises on a sample of its spec, so that nothing can be judged: the spec is at fault."""


class OtherValues(RuntimeError):
    """The operator raises on values that stand for recorded ones, of which only the range was kept."""


@dataclass(frozen=True)
class Call:
    """One call. `id` is SUBJECT/DTYPE/SAMPLE/VARIANT/DEVICE; everything else is derived from it."""

    id: str
    packages: Packages

    @cached_property
    def described(self) -> dict[str, Any]:
        """Subject, kind, dtype, variant, device, promises, positions of tensors: from the engine."""
        return _engine.describe(self.id)

    @property
    def subject(self) -> str:
        """`namespace::op`, or the name of a model."""
        return self.described["subject"]

    @property
    def is_model(self) -> bool:
        """Whether the subject is a model and not an operator."""
        return self.described["kind"] == "model"

    @property
    def device(self) -> str:
        """`cpu` or `cuda`."""
        return self.described["device"]

    @property
    def place(self) -> str:
        """`cpu`, `cuda` or `sim`: the device as ids name it. The simulated one is `cuda` to torch."""
        return CaseId.of_call(self.id).device

    @property
    def model(self) -> ModelSpec:
        """The spec of the subject, which must be a model."""
        return MODELS[self.subject]

    @cached_property
    def overload(self) -> torch._ops.OpOverload:
        """The overload of the subject, which must be an operator."""
        return overload_of(self.subject)

    @property
    def draws_random_numbers(self) -> bool:
        """Whether the operator says, by a promise or a tag, that a generator decides its results."""
        return "nondeterministic_seeded" in self.described["promises"]

    @cached_property
    def is_compiled_in_pieces(self) -> bool:
        """Whether a compiler sees ATen's operators in place of the operator, or in the model.

        It then generates code for them, and this code rounds in its own way.
        """
        # Compilers compile the kernels of an operator that torch.library.triton_op made in their own way.
        if not self.is_model and self.overload.name() in torch._library.triton.triton_ops_to_kernels:
            return True
        called = computing_operators(self.module(), self.tensors())
        if self.is_model:
            return any(operator.namespace in ("aten", "prims") for operator in called)
        return any(operator is not self.overload for operator in called)

    @property
    def repeats_bits(self) -> bool:
        """Whether calls repeat their bits: on CUDA only if the operator promises `deterministic`."""
        return self.device == "cpu" or "deterministic" in self.described["promises"]

    def difference_of_calls(self, got: torch.Tensor, want: torch.Tensor) -> str | None:
        """How the results of two calls of the same operators differ; None if they do not.

        They have the same bits, or, if calls do not repeat them, are within the promised accuracy.
        """
        text = _engine.difference(got, want)
        if text is None or self.repeats_bits:
            return text
        return _engine.difference_within_accuracy(self.id, got, want)

    def difference(self, got: torch.Tensor, want: torch.Tensor) -> str | None:
        """How a compiled result differs from eager's; None if it does not.

        They have the same bits if the compiled graph holds the operator itself, or a model's operators
        themselves, and one call gives the bits of another. Otherwise they are within the promised accuracy.
        Values of operators that draw random numbers are not compared: a compiled program draws them in an
        order of its own.
        """
        if not self.draws_random_numbers:
            text = self.difference_of_calls(got, want)
            if text is None or not (self.repeats_bits and self.is_compiled_in_pieces):
                return text
            return _engine.difference_within_accuracy(self.id, got, want)
        mine, theirs = (f"{list(tensor.shape)} of {tensor.dtype}" for tensor in (got, want))
        return None if mine == theirs else f"{mine}, not {theirs}"

    def arguments(self) -> list[Any]:
        """The arguments in schema order, laid out as the variant says, in new storages at each call."""
        return _engine.arguments(self.id)

    def tensors(self) -> list[torch.Tensor]:
        """The tensors among the arguments: the inputs of `module`."""
        arguments = self.arguments()
        return [
            arguments[position] if element is None else arguments[position][element]
            for position, element in self.described["tensors"]
        ]

    def module(self) -> torch.nn.Module:
        """A module whose forward takes `tensors()` and makes the call."""
        if self.is_model:
            torch.manual_seed(0)  # random weights must be the same in every process
            return self.model.factory().eval().to(self.device)
        places = [(position, element) for position, element in self.described["tensors"]]
        constants = self.arguments()
        for position, element in places:
            if element is None:
                constants[position] = None
            else:
                constants[position][element] = None
        return OpModule(self.overload, constants, places)

    def module_of_function(self) -> torch.nn.Module:
        """The same for the function itself, which compilers trace, instead of the operator for it."""
        module = self.module()
        module.overload = FUNCTIONS[self.subject]
        return module

    def eager(self) -> list[torch.Tensor]:
        """What the module returns for new inputs, as a flat list.

        Raises Refused or OtherValues if the module raises.
        """
        try:
            with torch.no_grad():
                return flat_tensors(self.module()(*self.tensors()))
        except Exception as error:  # an operator in Python refuses by whatever it raises
            if self.described["other_values"]:
                raise OtherValues(
                    "a recording keeps only the range of a large tensor, and the operator refuses values in "
                    f"it: {first_line(error)}"
                ) from error
            raise Refused(f"eager refuses this sample: {first_line(error)}") from error


def flat_tensors(results: Any) -> list[torch.Tensor]:
    """The tensors among a call's results, with those inside lists and tuples, in order."""
    return [leaf for leaf in torch.utils._pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]


def first_line(error: BaseException) -> str:
    """An exception in one line: its type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
