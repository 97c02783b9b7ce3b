"""On the simulated device, a kernel with several configurations takes the first that works there.

To compile and time all of them takes seconds for each key, and the times of a simulated device mean nothing.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any

_reported: set[str] = set()


def actions() -> dict[str, Callable[[], None]]:
    """What is to be done after which imports: nothing where no device is simulated."""
    if not hasattr(ctypes.CDLL(None), "opgate_sim_autotunes_all"):
        return {}
    return {
        "triton": _without_tuning_in_triton,
        "torch._inductor.runtime.triton_heuristics": _without_tuning_of_generated_kernels,
        "torch._inductor.select_algorithm": _without_choice_of_algorithms,
    }


@functools.cache
def runs_all() -> bool:
    """Whether OPGATE_SIM_AUTOTUNE is `all`. The device must be there."""
    return bool(ctypes.CDLL(None).opgate_sim_autotunes_all())


def _report(what: str, count: int, taken: Any) -> None:
    """Prints what was taken, once for each kernel and configuration."""
    line = (
        f"opgate sim: {what} is not tuned: of its {count} configurations, the first that works here is "
        f"taken: {taken}  (OPGATE_SIM_AUTOTUNE=all: all run)"
    )
    if line not in _reported:
        _reported.add(line)
        print(line, file=sys.stderr, flush=True)


def _without_tuning_in_triton() -> None:
    from triton import testing
    from triton.runtime.autotuner import Autotuner

    bench = Autotuner._bench
    excluded = [float("inf")] * 3

    def bench_first(self: Any, *arguments: Any, config: Any, **meta: Any) -> list[float]:
        """Runs the configuration once, with its hooks, unless another one has worked for this call."""
        if self.nargs is not None and self.__dict__.get("opgate_served") is self.nargs:
            return excluded
        timing = self.__dict__.get("do_bench")
        self.__dict__["do_bench"] = _run_once
        try:
            times = bench(self, *arguments, config=config, **meta)
        finally:
            del self.__dict__["do_bench"]
            if timing is not None:
                self.__dict__["do_bench"] = timing
        if times == excluded:
            return excluded
        self.opgate_served = self.nargs
        if not runs_all():
            _report(f"`{self.base_fn.__name__}`", len(self.configs), config)
        return times

    Autotuner._bench = bench_first
    for name in ("do_bench", "do_bench_cudagraph"):
        setattr(testing, name, _timing_once(getattr(testing, name)))


def _run_once(call: Callable[[], Any], quantiles: Iterable[float]) -> list[float]:
    """Stands in for what times a configuration. Nothing is measured."""
    call()
    return [0.0 for _ in quantiles]


def _timing_once(timing: Callable[..., Any]) -> Callable[..., Any]:
    """For libraries that choose by Triton's timing functions: one run is timed."""
    signature = inspect.signature(timing)

    def time_once(*arguments: Any, **keywords: Any) -> Any:
        import torch

        given = signature.bind(*arguments, **keywords).arguments
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        given["fn"]()
        end.record()
        torch.cuda.synchronize()
        milliseconds = begin.elapsed_time(end)
        quantiles = given.get("quantiles")
        if quantiles is not None:
            times = [milliseconds for _ in quantiles]
            return times if len(times) > 1 else milliseconds
        return [milliseconds] if given.get("return_mode") == "all" else milliseconds

    return time_once


def _without_tuning_of_generated_kernels() -> None:
    """Inductor's kernels, and kernels of Triton that it compiles into a graph."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    precompile = CachingAutotuner.precompile

    def precompile_first(self: Any, *arguments: Any, **keywords: Any) -> None:
        if runs_all():
            return precompile(self, *arguments, **keywords)
        for word in ("coordinate_descent_tuning", "combo_tuning_groups"):
            self.inductor_meta.pop(word, None)
        # Processes that compile for this one have all of them ready.
        choices = "compile_results" if self.compile_results else "configs"
        all_choices = list(getattr(self, choices) or [])
        if len(all_choices) < 2:
            return precompile(self, *arguments, **keywords)
        for number, choice in enumerate(all_choices, start=1):
            setattr(self, choices, [choice])
            try:
                precompile(self, *arguments, **keywords)
            except RuntimeError:  # by which Inductor reports that no configuration is left
                if number == len(all_choices):
                    raise
                self.compile_results = []
            else:
                return _report(f"`{self.fn.__name__}`", len(all_choices), getattr(choice, "config", choice))

    CachingAutotuner.precompile = precompile_first
    bench = CachingAutotuner.bench

    def place_of(self: Any, launcher: Any, *arguments: Any, **keywords: Any) -> float:
        """Instead of its time, so that the first that works is taken after all have run."""
        time = bench(self, launcher, *arguments, **keywords)
        places = {each: place for place, each in enumerate(self.launchers)}
        return time if time == float("inf") else float(places.get(launcher, len(places)))

    CachingAutotuner.bench = place_of


def _without_choice_of_algorithms() -> None:
    """What max_autotune chooses among: where a library's function is the first, it is taken."""
    from torch._inductor.select_algorithm import AlgorithmSelectorCache, ExternKernelCaller

    select = AlgorithmSelectorCache.__call__

    def select_first(self: Any, name: str, choices: list[Any], *arguments: Any, **keywords: Any) -> Any:
        if len(choices) > 1 and isinstance(choices[0], ExternKernelCaller):
            _report(f"the choice for `{name}`", len(choices), choices[0].name)
            choices = choices[:1]
        return select(self, name, choices, *arguments, **keywords)

    AlgorithmSelectorCache.__call__ = select_first
