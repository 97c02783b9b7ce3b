"""Writes a draft of the registration of a function as an operator: kernel, fake kernel and backward."""

from __future__ import annotations

import torch

from opgate.first_spec.operators import Operator
from opgate.first_spec.results_seen import Seen, like_argument, sizes_from_arguments
from opgate.functions.methods import text_of_call


def operator_name(function: Operator) -> str:
    """ "mylib::scaled_add" for "mylib.ops:scaled_add"."""
    package = function.name.partition(":")[0].partition(".")[0]
    return f"{package}::{function.word}"


def registration(function: Operator, seen: list[Seen], why_not: str) -> str:
    """The text of a module that registers the function. Question marks are for its author."""
    module = function.name.partition(":")[0]
    tuples = (function.recorded or {}).get("tuples", [])
    given = ", ".join(
        (f"{each.name}=" if each.kwarg_only else "")
        + (f"tuple({each.name})" if each.name in tuples else each.name)
        for each in function.schema.arguments
    )
    written = [each.name for each in function.schema.arguments if each.alias_info is not None]
    returned = new_results(function)
    word = function.word
    called = text_of_call(function.name.replace(":", "."), parameters(function), function.schema.arguments)
    return f'''"""{function.name} as the operator {operator_name(function)}.

Written by `opgate init --register`, for you to edit and to move into your library. Answer the questions in
the lines with a question mark.
"""

import {module}
import torch

function = {called}


@torch.library.custom_op(
    "{operator_name(function)}",
    mutates_args={tuple(written)!r},
    schema="{schema_of_operator(function)}",
)
def {word}({parameters(function)}):
{body(function, returned, given)}


@{word}.register_fake
def _({parameters(function)}):
{fake(seen, why_not, returned)}{backward(function, given, bool(written))}'''


def new_results(function: Operator) -> list[int]:
    """The positions of the results that are no argument: a custom_op returns none that it has written."""
    return [i for i, each in enumerate(function.schema.returns) if each.alias_info is None]


def schema_of_operator(function: Operator) -> str:
    """The schema of the custom_op, without a name."""
    schema = function.schema_text.removeprefix(function.name)
    returns = function.schema.returns
    returned = new_results(function)
    if len(returned) == len(returns):
        return schema
    types = ", ".join(str(returns[i].type) for i in returned)
    return f"{schema.rpartition(' -> ')[0]} -> {types if len(returned) == 1 else f'({types})'}"


def body(function: Operator, returned: list[int], given: str) -> str:
    """The lines that call the function."""
    if not returned:
        return f"    function({given})"
    if len(returned) == len(function.schema.returns):
        return f"    return function({given})"
    results = ", ".join(f"results[{i}]" for i in returned)
    return f"    results = function({given})\n    return {results}"


def parameters(function: Operator) -> str:
    """The parameters as Python text, with their defaults: the dispatcher leaves these out."""
    parts = []
    for each in function.schema.arguments:
        if each.kwarg_only and "*" not in parts:
            parts.append("*")
        parts.append(f"{each.name}={each.default_value!r}" if each.has_default_value() else each.name)
    return ", ".join(parts)


def fake(seen: list[Seen], why_not: str, returned: list[int]) -> str:
    """The body of the fake kernel, as the calls have shown it."""
    if not returned:
        return "    return None\n"
    if not seen:
        return (
            f"    # ? which sizes the results have; no call shows it: {why_not}\n"
            '    raise NotImplementedError("the sizes of the results are not known")\n'
        )
    calls = f"{len(seen)} call{'s' if len(seen) > 1 else ''} with recorded sizes"
    lines = [f"    # ? seen in {calls}: does it hold for all"]
    results = []
    for number in returned:
        results.append(one_result(seen, number, lines))
    lines.append(f"    return {', '.join(results)}")
    return "\n".join(lines) + "\n"


def one_result(seen: list[Seen], number: int, lines: list[str]) -> str:
    """An expression for one result. Adds lines for what the calls leave open."""
    is_contiguous = all(call.results[number][2] for call in seen)
    name = like_argument(seen, number)
    if name is not None and not is_contiguous and all(name in call.results[number][3] for call in seen):
        return f"torch.empty_like({name})"
    if not is_contiguous:
        lines.append("    # ? the result was not contiguous in each call: which strides has it")
    if name is not None:
        return f"torch.empty_like({name}, memory_format=torch.contiguous_format)"
    dtypes = {call.results[number][1] for call in seen}
    first = next(iter(seen[0].arguments))
    dtype = f", dtype={dtypes.pop()}" if dtypes != {seen[0].arguments[first][1]} and len(dtypes) == 1 else ""
    sizes = sizes_from_arguments(seen, number)
    if sizes is None:
        lines.append("    # ? the number of dims differs from call to call")
        return "..."
    if "?" in sizes:
        lines.append("    # ? a size is that of no argument: write what computes it in place of `...`")
    return f"{first}.new_empty(({''.join(f'{size}, ' for size in sizes).replace('?', '...')}){dtype})"


def backward(function: Operator, given: str, writes: bool) -> str:
    """The registration of the derivative, if gradients were computed in a recorded call."""
    if not (function.recorded or {}).get("differentiated") or writes:
        return ""
    arguments = function.schema.arguments
    tensors = [each.name for each in arguments if isinstance(each.type, torch._C.TensorType)]
    if any("Tensor" in str(each.type) and each.name not in tensors for each in arguments):
        return (
            "\n\n# ? gradients were computed; a list of tensors is among the arguments: register_autograd\n"
        )
    names = [each.name for each in arguments]
    others = [name for name in names if name not in tensors]
    keyword_only = any(each.kwarg_only for each in arguments)
    if keyword_only:
        return "\n\n# ? gradients were computed; there are arguments by keyword only: register_autograd\n"
    kept = "".join(f"    ctx.{name} = {name}\n" for name in others)
    restored = "".join(f"    {name} = ctx.{name}\n" for name in others)
    results = len(function.schema.returns)
    gradients = ", ".join(
        f"gradients[{tensors.index(name)}]" if name in tensors else "None" for name in names
    )
    outputs = "output" if results == 1 else "*output"
    return f"""

def keep(ctx, inputs, output):
    {", ".join(names)}{"," if len(names) == 1 else ""} = inputs
    ctx.save_for_backward({", ".join(tensors)})
{kept}

def backward(ctx, {"cotangent" if results == 1 else "*cotangents"}):
    # ? It calls the function again, for whose own derivative it asks. Compute the gradients from what the
    # forward has kept, if that is cheaper.
{restored}    with torch.enable_grad():
        {", ".join(tensors)}{"," if len(tensors) == 1 else ""} = (
            each.detach().requires_grad_(each.is_floating_point()) for each in ctx.saved_tensors
        )
        output = function({given})
    wanted = [each for each in ({", ".join(tensors)},) if each.requires_grad]
    cotangents = [{"cotangent" if results == 1 else "*cotangents"}]
    found = iter(torch.autograd.grad([{outputs}], wanted, cotangents, allow_unused=True))
    gradients = [next(found) if each.requires_grad else None for each in ({", ".join(tensors)},)]
    return {gradients}{"," if len(names) == 1 else ""}


{function.word}.register_autograd(backward, setup_context=keep)
"""
