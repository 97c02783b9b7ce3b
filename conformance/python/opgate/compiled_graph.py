"""What a compiler sees of an operator: the operator itself, or the operators that it computes with."""

from __future__ import annotations

from typing import Any

import torch


def is_compiled_in_pieces(
    module: torch.nn.Module, tensors: list[torch.Tensor], overload: torch._ops.OpOverload
) -> bool:
    """Whether the graph of the module, which calls `overload`, computes with other operators.

    It does if the operator's autograd kernel, or its only kernel, a composite, calls them. A compiler then
    generates code for each of them, and this code rounds in its own way.
    """
    from torch.fx.experimental.proxy_tensor import make_fx  # imports sympy, and is rarely needed

    try:
        with torch.no_grad():
            traced = make_fx(module, tracing_mode="fake")(*tensors)
    except Exception:  # a fake kernel may raise anything; fake.exists and export.graph report it
        return False
    called = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    return any(computes(target) for target in called if target is not overload)


def computes(target: Any) -> bool:
    """Whether a node that calls `target` may return other values than those of its arguments."""
    return isinstance(target, torch._ops.OpOverload) and any(
        result.alias_info is None for result in target._schema.returns
    )
