"""Names of parameters of Triton's kernels, which their PTX lacks, for findings on the simulated device."""

from __future__ import annotations

import ctypes
from typing import Any

_names: dict[str, list[str]] = {}  # by the hash of the compiled kernel


def name_parameters() -> None:
    """From now on the simulated device knows the parameters of each kernel that Triton compiles or reads.

    Nothing if no device is simulated in this process.
    """
    if not hasattr(ctypes.CDLL(None), "opgate_sim_name_parameters"):
        return
    from triton import knobs

    knobs.runtime.jit_post_compile_hook = _note_names
    knobs.runtime.kernel_load_end_hook.add(_pass_names)


def parameters_of(signature: dict[str, Any]) -> list[str]:
    """The arguments of a compiled kernel, for the types of those of its function.

    A constant is no parameter. Empty for tuples and descriptors, which are several parameters each.
    """
    kinds = signature.values()
    if not all(isinstance(kind, str) and not kind.startswith("tensordesc") for kind in kinds):
        return []
    return [name for name, kind in signature.items() if kind != "constexpr"]


def _note_names(*, fn: Any, compile: dict[str, Any], **_: Any) -> None:
    kernel = fn.jit_function.device_caches[compile["device"]][0][compile["key"]]
    _names[kernel.hash] = parameters_of(compile["signature"])


def _pass_names(module: Any, function: int, name: str, metadata_group: Any, hash: str) -> None:
    if names := _names.get(hash):
        ctypes.CDLL(None).opgate_sim_name_parameters(ctypes.c_void_p(function), "\n".join(names).encode())
