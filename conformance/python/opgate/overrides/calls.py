"""Calls the operators whose kernels a project replaces with the samples of torch's own tests, on the CPU.

`opgate record --over KEY` records this program. The project itself is not loaded here: its kernels may
refuse what torch's take.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from opgate.request import UserError, asked, status_of

SAMPLES = 40  # of each operator of torch's tests and dtype


def kernels_found(request: dict[str, Any]) -> dict[str, str]:
    """What overrides/found.py prints, by a process that loads the project."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPGATE_RECORD")}
    command = [sys.executable, "-m", "opgate.overrides.found", "0"]
    ended = subprocess.run(
        command, input=json.dumps(request), env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if ended.returncode != 0:
        raise UserError(f"the kernels at {request['key']} are not known: see above")
    kernels: dict[str, str] = json.loads(ended.stdout)
    return kernels


def variants(op: Any) -> Iterator[Callable[..., Any]]:
    """The ways to call an operator of torch's tests: functional, as a method, in place."""
    yield op.op
    for other in (op.inplace_variant, op.method_variant):
        if other is not None:
            yield other


def call(op: Any, sample: Any) -> None:
    """Each variant once, and the one that writes its result into `out`, which has no elements yet."""
    import torch

    def cloned(value: Any) -> Any:
        return torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, value)

    for variant in variants(op):
        try:
            result = variant(cloned(sample.input), *cloned(sample.args), **cloned(sample.kwargs))
        except Exception:  # some samples fit one variant only, and each operator refuses in its own way
            continue
        if variant is op.op and op.supports_out and isinstance(result, torch.Tensor):
            with torch.no_grad(), contextlib.suppress(Exception):  # for sparse results, for instance
                op.op(sample.input, *sample.args, **sample.kwargs, out=result.new_empty(0))


def samples_of(op: Any, dtype: Any) -> Iterator[Any]:
    """The first samples of the operator in this dtype."""
    try:
        yield from itertools.islice(op.sample_inputs("cpu", dtype), SAMPLES)
    except Exception:  # operators that need another build of torch raise errors of many types
        return


def overloads_reached(op: Any) -> set[str]:
    """The overloads that the first samples of an operator of torch's tests call, by name."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    reached: set[str] = set()

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            reached.add(func._schema.name + ("." + func._schema.overload_name).rstrip("."))
            return func(*args, **(kwargs or {}))

    dtypes = sorted(op.supported_dtypes("cpu"), key=lambda dtype: (dtype != torch.float32, str(dtype)))
    with Noting():
        for dtype in dtypes[:1]:  # there is none if the operator needs another build of torch
            for sample in itertools.islice(samples_of(op, dtype), 2):
                call(op, sample)
    return reached


def call_all(op: Any, device: str) -> None:
    """Its samples in all dtypes that torch's own kernels take on both devices."""
    for dtype in sorted(op.supported_dtypes("cpu") & op.supported_dtypes(device), key=str):
        for sample in samples_of(op, dtype):
            call(op, sample)


def call_samples(kernels: set[str], device: str) -> set[str]:
    """Calls the operators of torch's tests that reach them; returns those that none reaches.

    An operator that has the name of a kernel's is called in any case, and others only if none of those has
    reached it.
    """
    import torch

    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ModuleNotFoundError as error:
        raise UserError(f"the samples of torch's tests need the package {error.name}: install it") from error
    torch.manual_seed(0)
    words = {name.partition("::")[2].partition(".")[0].strip("_") for name in kernels}
    named, others = [], []
    for op in op_db:
        has_name = {op.name, op.aten_name, op.name.rpartition(".")[2]} & words
        (named if has_name else others).append(op)
    waiting = set(kernels)
    for op in named:
        if reached := overloads_reached(op) & kernels:
            call_all(op, device)
            waiting -= reached
    for op in others:
        if waiting and (reached := overloads_reached(op) & waiting):
            call_all(op, device)
            waiting -= reached
    return waiting


def run(request: dict[str, Any]) -> int:
    """Calls what reaches the kernels."""
    kernels = kernels_found(request)
    key = request["key"]
    if not kernels:
        project = (
            ", ".join([*request["modules"], *request["libraries"]]) or "opgate.toml lists nothing, and so"
        )
        raise UserError(f"--over {key}: {project} registers no kernel of torch's operators at this key")
    for name, place in kernels.items():
        print(f"{name} at {key}: {place}", flush=True)
    os.environ["OPGATE_RECORD_OPERATORS"] = ",".join(kernels)
    warnings.simplefilter("ignore")
    for name in sorted(call_samples(set(kernels), request["device"])):
        print(f"opgate: no sample of torch's tests reaches {name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(status_of(lambda: run(asked())))
