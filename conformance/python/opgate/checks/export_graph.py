"""export.graph: the exported graph has exactly the promised calls, survives saving, and equals eager."""

from __future__ import annotations

import io
import operator

import torch

from opgate import _engine
from opgate.calls.call import Call, first_line, flat_tensors
from opgate.judging.judgement import PASS, Judgement, fail
from opgate.judging.registry import check
from opgate.packages.package import export

# The exported program draws from the same generator as eager does.
SEED = 0
PROMISED = (
    "the exported graph has exactly the promised calls, survives save and load, and runs equal to eager"
)


def graph_calls(program: torch.export.ExportedProgram) -> list[str]:
    """The graph's calls in order, as "aten.conv2d.default" or "higher_order.call_torchbind"."""
    calls = []
    for node in program.graph.nodes:
        # getitem picks one of several results.
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        # The exporter itself adds nodes about sizes that depend on values.
        about_sizes = isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool)
        if about_sizes or node.target is torch.ops.aten._assert_scalar.default:
            continue
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            calls.append(f"higher_order.{node.target.name()}")
        else:
            calls.append(str(node.target))
    return calls


def saved_and_loaded(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program after a round trip through torch.export.save."""
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    buffer.seek(0)
    return torch.export.load(buffer)


def differences(program: torch.export.ExportedProgram, call: Call, eager: list[torch.Tensor]) -> str | None:
    """The first difference between the program's results and eager's; None without one."""
    with torch.no_grad():
        torch.manual_seed(SEED)
        results = flat_tensors(program.module()(*call.tensors()))
    if len(results) != len(eager):
        return f"{len(results)} tensors returned, not {len(eager)}"
    for result, expected in zip(results, eager, strict=True):
        if difference := call.difference_of_calls(result, expected):
            return difference
    return None


@check(
    "export.graph",
    registered=True,
    over_torch=False,
    needs_fake=True,
    imports=("torch.export",),
    variants="packaged",
    models=True,
)
def judge(call: Call) -> Judgement:
    """Exports the call and compares graph and results."""
    torch.manual_seed(SEED)
    eager = call.eager()
    if call.is_model:
        model = call.model
        expected = flat_tensors(model.expected(*call.tensors()))
        scale_of = model.scale_function
        scales = flat_tensors(scale_of(*call.tensors())) if scale_of else [None] * len(expected)
        for result, wanted, scale in zip(eager, expected, scales, strict=True):
            if difference := _engine.difference_from_reference(call.id, result, wanted, scale):
                bound = model.near and model.near.bound
                near = "bit for bit" if bound is None else f"within {bound:g} ulps"
                return fail(f"eager equals the model's reference {near}", difference, differs="values")
    try:
        program = export(call.module(), call.tensors())
        promised = call.model.nodes if call.is_model else [str(call.overload)]
        calls = graph_calls(program)
        if calls != promised:
            return fail(
                PROMISED,
                f"the graph calls {', '.join(calls) or 'nothing'}",
                f"promised: {', '.join(promised)}",
            )
        if difference := differences(program, call, eager):
            return fail(PROMISED, f"the exported program: {difference}", differs="values")
        if difference := differences(saved_and_loaded(program), call, eager):
            return fail(PROMISED, f"the program that was saved and loaded: {difference}", differs="values")
    except Exception as error:  # torch.export raises whatever a fake kernel raises
        return fail(PROMISED, first_line(error))
    return PASS
