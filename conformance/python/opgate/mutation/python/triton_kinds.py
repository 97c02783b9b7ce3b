"""The kinds of mutants of kernels in Triton: masks, axes, tails, atomic additions and accumulators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opgate.mutation.python.change import PythonMutant, compiled_instead, instead
from opgate.mutation.python.kinds import call_with
from opgate.mutation.python.kinds_of_operators import widens
from opgate.mutation.python.syntax import Site, last_name

# Where the mask and the value in its place stand among the positional arguments.
MASKS = {"load": ((1, 2), ("mask", "other")), "store": ((2,), ("mask",))}
AXES = ("program_id", "num_programs")


def of_mask(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """tl.load(p, mask=m, other=0) as tl.load(p)."""
    if last_name(node.func) not in MASKS:
        return
    places, names = MASKS[last_name(node.func)]
    if len(node.args) > places[0] or any(each.arg == "mask" for each in node.keywords):
        yield instead(site, "mask", call_with(site, node, [*places, *names]))


def of_other(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """tl.load(p, mask=m, other=0.0) as tl.load(p, mask=m, other=0.0 + 1)."""
    if last_name(node.func) != "load":
        return
    for keyword in node.keywords:
        if keyword.arg == "other":
            value = site.text.in_one_line(keyword.value)
            rest = call_with(site, node, ["other"]).removesuffix(")")
            yield instead(site, "other", f"{rest}, other={value} + 1)")


def of_axis(site: Site, node: ast.Constant) -> Iterator[PythonMutant]:
    """tl.program_id(0) as tl.program_id(1)."""
    if is_axis(site):
        yield instead(site, "axis", "0" if node.value else "1")


def of_atomic(site: Site, node: ast.Expr) -> Iterator[PythonMutant]:
    """tl.atomic_add(p, x, mask=m) as tl.store(p, tl.load(p, mask=m) + x, mask=m)."""
    if not isinstance(node.value, ast.Call):
        return
    call = node.value
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "atomic_add" or len(call.args) < 2:
        return
    place, value = (site.text.in_one_line(each) for each in call.args[:2])
    masks = [each.value for each in call.keywords if each.arg == "mask"] + call.args[2:3]
    mask = f", mask={site.text.in_one_line(masks[0])}" if masks else ""
    tl = site.text.in_one_line(call.func.value)
    yield compiled_instead(site, "atomic", f"{tl}.store({place}, {tl}.load({place}{mask}) + ({value}){mask})")


def of_conversion(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """x.to(tl.float32) as x."""
    if widens(node):
        assert isinstance(node.func, ast.Attribute)
        yield instead(site, "accumulator", site.text.in_one_line(node.func.value))


def of_accumulator(site: Site, node: ast.AugAssign) -> Iterator[PythonMutant]:
    """A sum that is rounded to a narrower type at each step."""
    is_sum = isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)
    if is_sum and site.text.has_lines_of_its_own(node):
        name, value = site.text.of(node.target), site.text.in_one_line(node.value)
        yield compiled_instead(
            site,
            "accumulator",
            f"{name} = ({name} + ({value})).to({_language(site)}.bfloat16).to({name}.dtype)",
            f"{site.text.in_one_line(node)}, rounded to a narrower type",
        )


FOR_KERNELS = (
    (ast.Call, of_mask),
    (ast.Call, of_other),
    (ast.Constant, of_axis),
    (ast.Expr, of_atomic),
    (ast.Call, of_conversion),
    (ast.AugAssign, of_accumulator),
)


def of_tail(site: Site, node: ast.Call) -> Iterator[PythonMutant]:
    """tl.cdiv(n, b) as n // b, in kernels and in the grids of their launches."""
    if last_name(node.func) == "cdiv" and len(node.args) == 2:
        count, size = (site.text.in_one_line(each) for each in node.args)
        yield instead(site, "tail", f"({count}) // ({size})", f"{count} // {size}")


def is_other(site: Site) -> bool:
    """Whether the node is the value of elements that a mask leaves out."""
    owner = site.parent
    return site.kernel is not None and isinstance(owner, ast.keyword) and owner.arg == "other"


def is_axis(site: Site) -> bool:
    """Whether the node is the number of an axis of the grid."""
    node, owner = site.node, site.parent
    if isinstance(owner, ast.keyword):
        owner = site.parents[-2]
    return isinstance(node, ast.Constant) and isinstance(owner, ast.Call) and last_name(owner.func) in AXES


def _language(site: Site) -> str:
    """What this module calls triton.language."""
    for each in ast.walk(site.parents[0]):
        if isinstance(each, ast.Import):
            names = [name.asname or name.name for name in each.names if name.name == "triton.language"]
        elif isinstance(each, ast.ImportFrom) and each.module == "triton":
            names = [name.asname or name.name for name in each.names if name.name == "language"]
        else:
            continue
        if names:
            return names[0]
    return "triton.language"
