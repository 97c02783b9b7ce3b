"""onnx.runs: each form exports to a valid model, and the one in standard operators equals eager."""

from __future__ import annotations

import json
from typing import Any

import torch

from opgate import _engine
from opgate.calls.call import Call, first_line, flat_tensors
from opgate.calls.comparing import difference_at_largest
from opgate.calls.resize import other_inputs, shapes
from opgate.judging.judgement import PASS, Judgement, fail, first_failure, invalid
from opgate.judging.registry import ONCE, check
from opgate.packages.package import open_sizes
from opgate.specs.names import name_of
from opgate.specs.onnx_forms import FORMS, Form, operators

PROMISED = (
    "exported to ONNX in each of its forms, the model is valid and, where it can run, gives eager's values"
)
# For sizes without a sample in the spec, results are compared with eager, and both are rounded.
ULPS_OF_LARGEST = 64.0


def exported(call: Call, form: Form, tensors: list[torch.Tensor]) -> Any:
    """The ONNX model, with open sizes where possible. Raises what torch.onnx.export raises."""
    program = torch.onnx.export(
        call.module().eval(),
        tuple(tensors),
        dynamo=True,
        verbose=False,
        custom_translation_table=dict(form.table),
        dynamic_shapes=(tuple(open_sizes(tensor) for tensor in tensors),),
    )
    return program.model_proto


def run(model: Any, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """What onnxruntime returns for the model on the CPU."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    feed = dict(zip(names, (tensor.numpy() for tensor in tensors), strict=True))
    return [torch.from_numpy(result) for result in session.run(None, feed)]


def judge_form(call: Call, form: Form) -> Judgement:
    """Exports the call in this form, and runs the model where it has standard operators only."""
    import onnx

    try:
        form.table  # noqa: B018 - the access imports the table
    except (ImportError, AttributeError, ValueError) as error:
        return invalid(f"the ONNX form {form.given} cannot be taken: {first_line(error)}")
    tensors = call.tensors()
    told = "in standard operators" if form.standard else "as a node of its own"
    try:
        model = exported(call, form, tensors)
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # exporter and checker raise errors of many kinds
        return fail(PROMISED, f"{told}: {first_line(error)}")
    foreign = sorted({node.domain for node in model.graph.node} - {"", "ai.onnx"})
    if bool(foreign) == form.standard:
        found = f"nodes of {', '.join(foreign)}" if foreign else "standard operators alone"
        return fail(PROMISED, f"{told}: the graph has {found}")
    return judge_run(call, model, tensors) if form.standard else PASS


def judge_run(call: Call, model: Any, tensors: list[torch.Tensor]) -> Judgement:
    """Compares results for the case's own inputs with the reference, and for other sizes with eager."""
    for number, inputs in enumerate([tensors, *(other for _, other in other_inputs(call, tensors))]):
        told = shapes(inputs)
        try:
            want = flat_tensors(call.module()(*[tensor.clone() for tensor in inputs]))  # it may write them
        except Exception:  # an operator in Python refuses a size by whatever it raises
            continue
        try:
            got = run(model, inputs)
        except Exception as error:  # onnxruntime has error classes of its own
            return fail(PROMISED, f"onnxruntime, inputs of {told}: {first_line(error)}")
        if number == 0:
            judgement = json.loads(_engine.judge_results(call.id, got))
            if judgement["verdict"] != "pass":
                return fail(PROMISED, f"onnxruntime: {judgement.get('happened', judgement.get('reason'))}")
            continue
        for result, expected in zip(got, want, strict=True):
            if text := difference_at_largest(result, expected, ULPS_OF_LARGEST):
                return fail(PROMISED, f"onnxruntime, inputs of {told}: {text}", differs="values")
    return PASS


@check(
    "onnx.runs",
    registered=True,
    over_torch=False,
    slow=True,
    needs_fake=True,
    imports=("torch.onnx", "onnxscript"),
    packages=("onnx", "onnxruntime", "onnxscript"),
    **ONCE,
    subjects=operators,
    device="cpu",  # onnxruntime runs the model there
    reference=True,
)
def judge(call: Call) -> Judgement:
    """Exports the call in every form that its library offers."""
    call.eager()
    name = name_of(call.overload)
    return first_failure(judge_form(call, form) for form in FORMS if name in form.operators)
