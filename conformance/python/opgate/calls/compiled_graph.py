"""What a compiler sees of a call: the operator itself, or the operators that it or a model computes with."""

from __future__ import annotations

import torch


def computing_operators(module: torch.nn.Module, tensors: list[torch.Tensor]) -> list[torch._ops.OpOverload]:
    """The operators in the graph of the module that may return other values than those of their arguments.

    In the place of an operator whose autograd kernel, or whose only kernel, a composite, calls others, the
    graph has these. Empty if the module cannot be traced.
    """
    from torch.fx.experimental.proxy_tensor import make_fx  # imports sympy, and is rarely needed

    try:
        with torch.no_grad():
            traced = make_fx(module, tracing_mode="fake", _allow_non_fake_inputs=True)(*tensors)
    except Exception:  # a fake kernel may raise anything; fake.exists and export.graph report it
        return []
    called = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    return [
        target
        for target in called
        if isinstance(target, torch._ops.OpOverload)
        and any(result.alias_info is None for result in target._schema.returns)
    ]
