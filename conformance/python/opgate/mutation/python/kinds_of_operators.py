"""The kinds of mutants of operators in Python: layouts, memory, devices, accumulators and derivatives."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opgate.mutation import tables
from opgate.mutation.python.change import PythonChange, change, instead
from opgate.mutation.python.kinds import call_with
from opgate.mutation.python.syntax import Site, last_name

METHODS = tables.METHODS | {"expand": ("expansion", None)}
FUNCTIONS = tables.FUNCTIONS | {"current_stream": ("stream", "default_stream")}
WIDE = ("float32", "float64")
WIDENING_METHODS = ("float", "double")
REDUCTIONS = ("sum", "mean", "prod", "cumsum", "cumprod", "softmax", "log_softmax", "var", "std", "norm")


def of_method(site: Site) -> Iterator[PythonChange]:
    """x.size(i) as x.stride(i), x.contiguous() as x."""
    node = site.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr not in METHODS or last_name(node.func.value) == "torch":
        return
    kind, other = METHODS[node.func.attr]
    receiver = site.text.in_one_line(node.func.value)
    if other is None:
        yield instead(site, kind, receiver)
    else:
        arguments = ", ".join(site.text.in_one_line(each) for each in node.args)
        yield instead(site, kind, f"{_grouped(node.func.value, receiver)}.{other}({arguments})")


def of_shape(site: Site) -> Iterator[PythonChange]:
    """x.shape as x.stride()."""
    node = site.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load) or node.attr != "shape":
        return
    if last_name(node.value) not in ("ctx", "self"):  # whose attribute may be anything
        receiver = site.text.in_one_line(node.value)
        yield instead(site, "stride for size", f"{_grouped(node.value, receiver)}.stride()")


def of_function(site: Site) -> Iterator[PythonChange]:
    """torch.zeros(...) as torch.empty(...), the current stream as the default stream."""
    node = site.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr not in FUNCTIONS or last_name(node.func.value) in ("np", "numpy"):
        return
    kind, other = FUNCTIONS[node.func.attr]
    function = site.text.in_one_line(node.func)
    rest = call_with(site, node, ())[len(function) :]
    yield instead(site, kind, function.removesuffix(node.func.attr) + other + rest)


def of_maker(site: Site) -> Iterator[PythonChange]:
    """A new tensor with the strides of a transposed one."""
    node = site.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr in tables.MAKERS and last_name(node.func.value) not in ("np", "numpy"):
        shown = f"{site.text.in_one_line(node)}, with the strides of a transposed tensor"
        yield change(site, "strides", "_opgate_transposed(OPGATE_NUMBER, ", ")", "", shown)


def of_conversion(site: Site) -> Iterator[PythonChange]:
    """x.to(torch.float32) or x.float() as x, and x.sum(dtype=torch.float32) as x.sum()."""
    node = site.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if widens(node) or (node.func.attr in WIDENING_METHODS and not node.args):
        yield instead(site, "accumulator", site.text.in_one_line(node.func.value))
    elif node.func.attr in REDUCTIONS and any(
        each.arg == "dtype" and last_name(each.value) in WIDE for each in node.keywords
    ):
        yield instead(site, "accumulator", call_with(site, node, ["dtype"]))


def of_guard(site: Site) -> Iterator[PythonChange]:
    """with torch.cuda.device(d) as a block without it."""
    node, owner = site.node, site.parent
    if not isinstance(node, ast.Call) or not isinstance(owner, ast.withitem) or owner.optional_vars:
        return
    name = ast.unparse(node.func)
    if name.endswith(("cuda.device", "cuda.device_of", "cuda.stream")):
        yield instead(site, "guard", "_opgate_no_guard()", "")


FOR_OPERATORS = (of_method, of_shape, of_function, of_maker, of_conversion, of_guard)


def widens(call: ast.Call) -> bool:
    """Whether this is x.to(torch.float32), or the same of Triton."""
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "to"
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Attribute)
        and call.args[0].attr in WIDE
    )


def _grouped(node: ast.expr, code: str) -> str:
    """The code of a node, in parentheses if what comes after would bind to a part of it."""
    return code if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({code})"
