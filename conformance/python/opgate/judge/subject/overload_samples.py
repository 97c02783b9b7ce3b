"""Arguments for an overload of torch's: those of torch's own tests, and of calls that programs have made."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from opgate.calls import torch_tests
from opgate.judge.subject.argument_file import TracedCall, drawn
from opgate.judge.subject.overload import is_random, overload_named
from opgate.judge.tensors.arguments import NotJudged, copy_with_layout, mapped, taken_apart, tensors_of
from opgate.request import UserError

OF_OTHER_DTYPES = 6
"""Samples of torch's tests in each dtype but the first."""
OF_A_FILE = 16
MOST_ELEMENTS = 1 << 22
"""A call in a file with more elements is left out."""

Labelled = tuple[str, str, list[Any]]
"""The kind of a sample, as truth/samples.py has them, its label, and [POSITIONAL, KEYWORDS]."""


@dataclass(frozen=True)
class Drawable:
    """A call whose arguments can be drawn again with other values, as torch's seed decides."""

    elements: int
    draw: Callable[[], list[Any]]


class OverloadSamples:
    """The arguments. Raises UserError if there are none, or if the overload draws random numbers."""

    def __init__(self, name: str, calls: Sequence[TracedCall]) -> None:
        self.name = name
        self.overload = overload_named(name)
        self.left_out: list[str] = []
        self.drawable: list[Drawable] = []
        if is_random(name):
            raise UserError(f"{name} draws random numbers, so that no result is the right one")
        torch.manual_seed(0)
        self.labelled = list(self.traced(calls))
        self.labelled += self.tested(is_enough=not self.labelled)
        if not self.drawable:
            raise UserError(
                f"no sample of torch's tests reaches {name}; name a file with calls of it with --arguments"
            )

    def every(self) -> Iterator[Labelled]:
        """All samples."""
        yield from self.labelled

    def draw(self) -> list[Any]:
        """The largest arguments with other values."""
        random.seed(int(torch.randint(1 << 32, ())))  # some samples of torch's tests are drawn with it
        return max(self.drawable, key=lambda each: each.elements).draw()

    def tested(self, is_enough: bool) -> Iterator[Labelled]:
        """The samples of torch's tests; unless there are others, none in the first dtype may be refused."""
        first: torch.dtype | None = None
        for op, _ in torch_tests.that_reach({self.name}):
            for dtype in torch_tests.dtypes_of(op):
                count = 0
                for number, sample in enumerate(torch_tests.samples_of(op, dtype)):
                    arguments = captured(op, sample, self.name)
                    if arguments is None:
                        continue
                    first = first or dtype
                    label = f"sample {number} of torch's tests of {op.name} in {str(dtype)[6:]}"
                    kind = "further"
                    if is_enough and dtype == first:
                        tensors = tensors_of(arguments)
                        kind = "spec" if all(each.is_contiguous() for each in tensors) else "layout"
                        self.drawable.append(redrawn(op, dtype, number, self.name, arguments))
                    yield kind, label, arguments
                    if kind == "spec":  # which may avoid the values at which the operator changes
                        yield "values", f"{label}, with normal numbers", with_normal_numbers(arguments)
                    count += 1
                    if dtype != first and count == OF_OTHER_DTYPES:
                        break

    def traced(self, calls: Sequence[TracedCall]) -> Iterator[Labelled]:
        """The calls of a file, with numbers of one sign and of both; of many, some of each size."""
        self.left_out += [f"{call.place}: {call.problem}" for call in calls if call.problem]
        calls = [call for call in calls if not call.problem]
        small = sorted(
            (each for each in calls if each.elements <= MOST_ELEMENTS), key=lambda call: call.elements
        )
        chosen = small
        if len(small) > OF_A_FILE:
            chosen = [small[i * (len(small) - 1) // (OF_A_FILE - 1)] for i in range(OF_A_FILE)]
        if len(chosen) < len(calls):
            self.left_out.append(
                f"{len(calls) - len(chosen)} of {len(calls)} calls of {self.name} in the file"
            )
        for call in chosen:
            integers = next((most for most in (10, 2) if self.takes(drawn(call, False, most))), None)
            if integers is None:
                self.left_out.append(f"{call.place}: torch refuses this call with random values")
                continue
            yield "spec", f"the call in {call.place}", drawn(call, False, integers)
            yield "values", f"the call in {call.place}, with both signs", drawn(call, True, integers)
            draw = lambda call=call, integers=integers: drawn(call, False, integers)  # noqa: E731
            self.drawable.append(Drawable(call.elements, draw))

    def takes(self, arguments: list[Any]) -> bool:
        """Whether torch's kernel takes these arguments."""
        positional, keywords = arguments
        try:
            taken_apart(arguments)
            self.overload(*positional, **keywords)
        except Exception:  # torch's kernels refuse with errors of many types
            return False
        return True


class Capturing(TorchDispatchMode):
    """Keeps the arguments of the first call of an overload in the block that is not refused."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.arguments: list[Any] | None = None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Otherwise torch imports its compiler, which takes seconds, to keep it away from this class."""
        return False

    def __torch_dispatch__(self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        """Calls the operator, and keeps the arguments as they were before."""
        given = None
        if self.arguments is None and operator.name() == self.name:
            given = sendable([list(arguments), dict(keywords or {})])
        result = operator(*arguments, **(keywords or {}))
        self.arguments = self.arguments or given  # now that it is not refused
        return result


def with_normal_numbers(arguments: list[Any]) -> list[Any]:
    """The arguments with normally distributed numbers in floating tensors."""
    return mapped(arguments, lambda t: torch.randn_like(t) if t.is_floating_point() else t)


def sendable(arguments: list[Any]) -> list[Any] | None:
    """A copy of the arguments; None if they cannot be sent to another process."""
    try:
        if all(is_plain(tensor) for tensor in tensors_of(arguments)):
            return mapped(arguments, copy_with_layout)
    except NotJudged:  # a device, a generator, a storage
        pass
    return None


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether it is memory on the CPU, without lazy conjugation or negation."""
    is_memory = type(tensor) is torch.Tensor and tensor.layout == torch.strided and tensor.is_cpu
    return is_memory and not tensor.is_quantized and not tensor.is_conj() and not tensor.is_neg()


def captured(op: Any, sample: Any, name: str) -> list[Any] | None:
    """With which arguments the sample first calls the overload; None if it does not."""
    with Capturing(name) as capturing:
        torch_tests.call(op, sample)
    return capturing.arguments


def redrawn(op: Any, dtype: torch.dtype, number: int, name: str, arguments: list[Any]) -> Drawable:
    """A sample of torch's tests, made again with other random numbers."""

    def draw() -> list[Any]:
        for now, sample in enumerate(torch_tests.samples_of(op, dtype)):
            if now == number and (made := captured(op, sample, name)) is not None:
                return made
        return mapped(arguments, copy_with_layout)  # other numbers take another way

    return Drawable(sum(tensor.numel() for tensor in tensors_of(arguments)), draw)
