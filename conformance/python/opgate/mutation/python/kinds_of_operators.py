"""The kinds of mutants of operators in Python: layouts, memory, devices, accumulators and derivatives."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opgate.mutation import tables
from opgate.mutation.python.change import PythonMutant, change, instead
from opgate.mutation.python.kinds import call_with
from opgate.mutation.python.syntax import Site, last_name

METHODS = tables.METHODS | {"expand": ("expansion", None)}
FUNCTIONS = tables.FUNCTIONS | {"current_stream": ("stream", "default_stream")}
NUMPY = ("np", "numpy")
WIDE = ("float32", "float64")
WIDENING_METHODS = ("float", "double")
REDUCTIONS = ("sum", "mean", "prod", "cumsum", "cumprod", "softmax", "log_softmax", "var", "std", "norm")


def of_method(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """x.size(i) as x.stride(i), x.contiguous() as x."""
    owner, name = _called_method(node)
    if name not in METHODS or owner == "torch":
        return
    kind, other = METHODS[name]
    receiver = site.text.in_one_line(node.func.value)
    if other is None:
        yield instead(site, kind, receiver)
    else:
        arguments = ", ".join(site.text.in_one_line(each) for each in node.args)
        yield instead(site, kind, f"{_grouped(node.func.value, receiver)}.{other}({arguments})")


def of_shape(site: Site, node: ast.Attribute) -> Iterator[PythonMutant]:
    """x.shape as x.stride()."""
    if not isinstance(node.ctx, ast.Load) or node.attr != "shape":
        return
    if last_name(node.value) not in ("ctx", "self"):  # whose attribute may be anything
        receiver = site.text.in_one_line(node.value)
        yield instead(site, "stride for size", f"{_grouped(node.value, receiver)}.stride()")


def of_function(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """torch.zeros(...) as torch.empty(...), the current stream as the default stream."""
    owner, name = _called_method(node)
    if name in FUNCTIONS and owner not in NUMPY:
        kind, other = FUNCTIONS[name]
        function = site.text.in_one_line(node.func)
        rest = call_with(site, node, ())[len(function) :]
        yield instead(site, kind, function.removesuffix(name) + other + rest)


def of_maker(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """A new tensor with the strides of a transposed one."""
    owner, name = _called_method(node)
    if name in tables.MAKERS and owner not in NUMPY:
        shown = f"{site.text.in_one_line(node)}, with the strides of a transposed tensor"
        yield change(site, "strides", "_opgate_transposed(OPGATE_NUMBER, ", ")", "", shown)


def of_conversion(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """x.to(torch.float32) or x.float() as x, and x.sum(dtype=torch.float32) as x.sum()."""
    _, name = _called_method(node)
    if widens(node) or (name in WIDENING_METHODS and not node.args):
        yield instead(site, "accumulator", site.text.in_one_line(node.func.value))
    elif name in REDUCTIONS and any(
        each.arg == "dtype" and last_name(each.value) in WIDE for each in node.keywords
    ):
        yield instead(site, "accumulator", call_with(site, node, ["dtype"]))


def of_guard(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """with torch.cuda.device(d) as a block without it."""
    owner = site.parent
    if not isinstance(owner, ast.withitem) or owner.optional_vars:
        return
    name = ast.unparse(node.func)
    if name.endswith(("cuda.device", "cuda.device_of", "cuda.stream")):
        yield instead(site, "guard", "_opgate_no_guard()", "")


FOR_OPERATORS = (
    (ast.Call, of_method),
    (ast.Attribute, of_shape),
    (ast.Call, of_function),
    (ast.Call, of_maker),
    (ast.Call, of_conversion),
    (ast.Call, of_guard),
)


def widens(call: ast.Call) -> bool:
    """Whether this is x.to(torch.float32), or the same of Triton."""
    match call:
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Attribute(attr=dtype)]):
            return dtype in WIDE
    return False


def _called_method(call: ast.Call) -> tuple[str, str]:
    """The last word of the name before the dot, and the method; empty if no method is called."""
    if not isinstance(call.func, ast.Attribute):
        return "", ""
    return last_name(call.func.value), call.func.attr


def _grouped(node: ast.expr, code: str) -> str:
    """The code of a node, in parentheses if what comes after would bind to a part of it."""
    return code if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({code})"
