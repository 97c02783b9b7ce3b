"""Whether the fake kernel that an exported program was traced with agrees with what the operator returned."""

from __future__ import annotations

import torch

from opgate.calls.call import flat_tensors
from opgate.calls.comparing import strides


def disagreement(
    program: torch.export.ExportedProgram, overload: torch._ops.OpOverload, results: list[torch.Tensor]
) -> str | None:
    """The first difference between the traced results of `overload` and `results`; None without one.

    None, too, where the program computes with other operators in place of `overload`.
    """
    seen = [node.meta.get("val") for node in program.graph.nodes if node.target is overload]
    fakes = flat_tensors(seen)
    if not fakes:
        return None
    if len(fakes) != len(results):
        return f"{len(fakes)} tensors, not {len(results)}"
    for number, (fake, result) in enumerate(zip(fakes, results, strict=True)):
        if fake.layout != torch.strided:
            continue
        if any(isinstance(number, torch.SymInt) for number in (*fake.shape, *fake.stride())):
            continue  # it depends on values, so that the program does not know it
        for what, mine, theirs in (
            ("shape", list(fake.shape), list(result.shape)),
            ("dtype", fake.dtype, result.dtype),
            ("strides", strides(fake), strides(result)),
        ):
            if mine != theirs:
                return f"output {number} with {what} {mine}, not {theirs}"
    return None
