"""The reference: what it returns, and what it returns in double with arguments that are slightly moved."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from opgate.judge.subject.source_file import SourceFile, made
from opgate.judge.tensors.arguments import (
    NotJudged,
    copy_with_layout,
    in_double,
    mapped,
    taken_apart,
    tensors_of,
)
from opgate.judge.truth.samples import GET_INPUTS
from opgate.request import UserError

Results = list[torch.Tensor]
Shift = Callable[[torch.Tensor], torch.Tensor]
"""For each element of a tensor, a number from -1 to 1."""


@dataclass
class Returned:
    """What one call has returned, and what it did to its arguments."""

    results: Results
    structure: Any
    written: list[int]  # the arguments that the call has changed
    shared: list[list[int]]  # for each result, the arguments whose memory it shares


class Reference:
    """The function or the module of the reference's file. It keeps nothing from call to call."""

    def __init__(self, source: SourceFile) -> None:
        try:
            self.module = source.load("opgate_judged_reference")
        except UserError:
            raise
        except Exception as error:
            raise UserError(f"the reference {source} cannot be loaded: {error}") from error
        self.source = source
        self.drawn = "the largest sample" if source.overload else GET_INPUTS
        self.spec_samples, self.left_out = source.add_inputs(self.module)
        for needed in (source.name, "get_inputs"):
            if not hasattr(self.module, needed):
                raise UserError(f"the reference {source.path or source} has no {needed}")
        self.name = source.name

    def start(self, seed: int) -> list[Any]:
        """Makes the module anew with this seed; returns the arguments that it was made with."""
        init = list(getattr(self.module, "get_init_inputs", list)())
        taken_apart(init)  # raises NotJudged
        self.called = self.source.adapted(made(self.module, self.name, init, seed))
        return init

    def state(self) -> dict[str, torch.Tensor]:
        """The parameters and buffers, by name."""
        return dict(self.called.state_dict()) if isinstance(self.called, torch.nn.Module) else {}

    def inputs(self, seed: int) -> list[Any]:
        """The arguments that get_inputs() draws with this seed."""
        torch.manual_seed(seed)
        drawn = self.module.get_inputs()
        drawn = list(drawn) if isinstance(drawn, list | tuple) else [drawn]
        try:
            if not tensors_of(drawn):
                raise NotJudged("there is no tensor")
        except NotJudged as error:
            raise UserError(f"get_inputs() returns what cannot be judged: {error}") from None
        return mapped(drawn, torch.Tensor.detach)

    @torch.no_grad()
    def call(self, arguments: Sequence[Any]) -> Returned:
        """Calls the reference as it is, with copies of the arguments. Raises what it raises."""
        given = mapped(list(arguments), copy_with_layout)
        before = [tensor.clone() for tensor in tensors_of(given)]
        returned = copy.deepcopy(self.called)(*given)
        structure, results = taken_apart(returned)
        after = tensors_of(given)
        written = [i for i, old in enumerate(before) if not same(old, after[i])]
        shared = [[i for i, old in enumerate(after) if overlaps(result, old)] for result in results]
        return Returned([result.detach().clone() for result in results], structure, written, shared)

    @torch.no_grad()
    def in_double(self, arguments: Sequence[Any], by: Shift | None = None, half: bool = False) -> Results:
        """The results in double.

        Floating arguments and parameters are first moved by at most a unit of their rounding, which `by`
        draws, or rounded to float16. Raises what the reference raises.
        """

        def moved(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.is_complex():
                return torch.complex(moved(tensor.real), moved(tensor.imag))
            if not tensor.is_floating_point():
                return tensor.clone()
            if half:
                return tensor.half().double()
            wide = tensor.double()
            if by is None:
                return wide.clone()
            return wide * (1 + by(wide) * torch.finfo(tensor.dtype).eps)

        called = copy.deepcopy(self.called)
        if isinstance(called, torch.nn.Module):
            exact = {name: moved(value) for name, value in called.state_dict().items()}
            called = called.double()
            for name, value in called.state_dict().items():
                value.copy_(exact[name])
        return tensors_of(called(*in_double(list(arguments), moved)))


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether sizes and values are the same; NaN is the same as NaN."""
    return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())


def overlaps(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both lie in one storage."""
    return one.numel() > 0 and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
