"""With `opgate sim --autotune all`, all configurations of a kernel of Triton run on the inputs of its calls.

The first that works runs as usual. Each further one then begins with the memory that the call found, and its
results are compared with those of the first, which stay. This happens once for each key of the kernel;
below pytest once for each key and test, and a test that passes judges those that leave other results: see
pytest_configurations.py. In other programs a line reports a result that is not the first one's by more than
rounding: nothing else is known of what the kernel shall compute.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# Of the largest magnitude of a result. Reductions in another order differ by less, also those of halves.
ROUNDING = 0.01


@dataclass(frozen=True)
class Difference:
    """The element in which a configuration's result is farthest from that of the first one."""

    tuner: Any
    config: Any
    first: Any
    argument: str
    element: tuple[int, ...]
    value: Any
    expected: Any
    is_beyond_rounding: bool

    def in_words(self) -> str:
        """The kernel, its configuration, and the values."""
        return (
            f"`{self.tuner.base_fn.__name__}` with {in_words(self.config, self.first)}: `{self.argument}`"
            f"{list(self.element)} is {self.value}, and with {in_words(self.first, self.config)}, the first "
            f"that works, it is {self.expected}"
        )


def in_words(config: Any, other: Any) -> str:
    """What the configuration has otherwise than the other one."""
    words, others = config.all_kwargs(), other.all_kwargs()
    own = [f"{name}={value}" for name, value in words.items() if others.get(name) != value]
    return ", ".join(own) or str(config)


class Memory:
    """The memory of the tensors among the arguments of a call, read and written without the tools."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.tensors = [(name, each) for name, value in arguments.items() for each in tensors_of(value)]
        storages = [tensor.untyped_storage() for _, tensor in self.tensors]
        self.sizes = {storage.data_ptr(): storage.nbytes() for storage in storages if storage.nbytes()}

    def take(self) -> dict[int, bytes]:
        """A copy, once all that was issued has run."""
        import torch

        torch.cuda.synchronize()
        return {address: ctypes.string_at(as_host(address), size) for address, size in self.sizes.items()}

    def put(self, content: dict[int, bytes]) -> None:
        """Writes a copy back."""
        for address, data in content.items():
            ctypes.memmove(as_host(address), data, len(data))

    def differences(self, first: dict[int, bytes], other: dict[int, bytes]) -> Iterator[tuple[str, Any, Any]]:
        """The name and both values of each tensor whose memory differs."""
        for name, tensor in self.tensors:
            address = tensor.untyped_storage().data_ptr()
            if address in first and first[address] != other[address]:
                yield name, self.value(tensor, first[address]), self.value(tensor, other[address])

    @staticmethod
    def value(tensor: Any, data: bytes) -> Any:
        """The tensor on the CPU, with this memory."""
        import torch

        whole = torch.frombuffer(bytearray(data), dtype=torch.uint8).untyped_storage()
        empty = torch.empty(0, dtype=tensor.dtype)
        return empty.set_(whole, tensor.storage_offset(), tensor.shape, tensor.stride())


def as_host(address: int) -> int:
    """Where the host can read and write the device memory at this address."""
    view = ctypes.CDLL(None).opgate_sim_host_view
    view.restype = ctypes.c_void_p
    return int(view(ctypes.c_void_p(address)))


def tensors_of(value: Any) -> Iterable[Any]:
    """The tensors of the simulated devices in an argument, also those of tuples and tensor descriptors."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value] if value.is_cuda and value.numel() else []
    if isinstance(value, (tuple, list)):
        return [tensor for each in value for tensor in tensors_of(each)]
    return tensors_of(value.base) if hasattr(value, "base") else []


def farthest(first: Any, other: Any) -> tuple[tuple[int, ...], Any, Any, bool] | None:
    """The element that is farthest from the first one's, both values, and whether it is beyond rounding."""
    import torch

    exact = not first.dtype.is_floating_point and not first.dtype.is_complex
    wide = torch.complex128 if first.dtype.is_complex else torch.float64
    a, b = first.to(wide), other.to(wide)
    distance = (a - b).abs()
    distance[distance.isnan()] = float("inf")
    distance[(a == b) | (a.isnan() & b.isnan())] = 0
    place = int(distance.argmax())
    if distance.flatten()[place] == 0:
        return None
    element = tuple(int(index) for index in torch.unravel_index(torch.tensor(place), distance.shape))
    largest = a.abs()[a.isfinite()]
    edge = ROUNDING * float(largest.max()) if largest.numel() else 0.0
    beyond = exact or float(distance.flatten()[place]) > edge
    return element, other[element].item(), first[element].item(), beyond


class Sweep:
    """What of this process has run with all configurations, and what differed."""

    def __init__(self) -> None:
        self.is_judged = False  # by a test
        self.forced: tuple[Any, Any] | None = None
        self.done: set[tuple[Any, ...]] = set()
        self.found: dict[tuple[int, str], Difference] = {}

    def begin_test(self) -> None:
        """Forgets what other tests have run."""
        self.is_judged = True
        self.done.clear()
        self.found.clear()

    @contextlib.contextmanager
    def forcing(self, difference: Difference | None) -> Iterator[None]:
        """Meanwhile the kernel runs with that configuration, or all with their first. Nothing is compared."""
        self.forced = (None, None) if difference is None else (difference.tuner, difference.config)
        try:
            yield
        finally:
            self.forced = None

    def add(self, difference: Difference) -> None:
        """Keeps the first of a configuration, or reports it."""
        key = (id(difference.tuner), str(difference.config))
        if key in self.found or not (self.is_judged or difference.is_beyond_rounding):
            return
        self.found[key] = difference
        if not self.is_judged:
            print(f"opgate sim: note: {difference.in_words()}", file=sys.stderr, flush=True)


SWEEP = Sweep()


def run_all() -> None:
    """Has Triton's autotuner do so."""
    import torch
    from triton.compiler.errors import CompileTimeAssertionFailure
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.errors import OutOfResources, PTXASError

    run = Autotuner.run
    refusals = (OutOfResources, CompileTimeAssertionFailure, PTXASError)

    def run_with(self: Any, config: Any, arguments: Any, keywords: Any, resets: bool = False) -> Any:
        self.nargs = dict(zip(self.arg_names, arguments, strict=False))
        whole = {**self.nargs, **keywords, **config.all_kwargs()}
        if resets:
            self.pre_hook(whole, reset_only=True)
        if config.pre_hook is not None:
            config.pre_hook(whole)
        try:
            return self.fn.run(*arguments, **keywords, **config.all_kwargs())
        finally:
            self.nargs = None

    def run_each(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if SWEEP.forced is not None:
            tuner, config = SWEEP.forced
            if tuner is self:
                try:
                    return run_with(self, config, arguments, keywords)
                except refusals:  # of another key, with which the configuration does not work
                    return run(self, *arguments, **keywords)
        positional = dict(zip(self.arg_names, arguments, strict=False))
        names = {**positional, **keywords}
        dtypes = [str(value.dtype) for value in names.values() if hasattr(value, "dtype")]
        key = (id(self), *(str(names.get(name)) for name in self.keys), *dtypes)
        is_due = len(self.configs) > 1 and SWEEP.forced is None and key not in SWEEP.done
        if not is_due or torch.cuda.is_current_stream_capturing():
            return run(self, *arguments, **keywords)
        SWEEP.done.add(key)
        self.nargs = positional
        configs = self.prune_configs(keywords)
        memory = Memory(names)
        before, tuned = memory.take(), len(self.cache)
        result = run(self, *arguments, **keywords)
        first, after = self.best_config, memory.take()
        for config in configs:
            if str(config) == str(first):  # a function that leaves some out may give copies
                continue
            memory.put(before)
            try:
                run_with(self, config, arguments, keywords, resets=len(self.cache) != tuned)
                left = memory.take()
            except refusals:
                continue
            except Exception as error:
                error.add_note(f"opgate sim: `{self.base_fn.__name__}` ran with {in_words(config, first)}")
                raise
            for name, wanted, got in memory.differences(after, left):
                far = farthest(wanted, got)
                if far is not None:
                    SWEEP.add(Difference(self, config, first, name, *far))
        memory.put(after)
        return result

    Autotuner.run = run_each
