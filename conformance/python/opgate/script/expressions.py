"""The parts of a script that are Python's expressions: the arguments of a call, and what it calls."""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from typing import Any

import torch

from opgate import _engine
from opgate.calls.call import overload_of
from opgate.functions.methods import text_of_call
from opgate.request import UserError

LINE_LENGTH = 100
MOST_ELEMENTS = 4096
TAKEN = {"again", "before", "call", "compiled", "dense", "inf", "nan", "returned", "sys", "tensors"}
TAKEN |= {"torch", "wide"}
"""Names that scripts use themselves."""


def python_name(name: str) -> str:
    """The name made valid for a variable of a script: "xs_1" for "xs[1]"."""
    name = name.replace("[", "_").replace("]", "")
    return f"{name}_" if keyword.iskeyword(name) or name in TAKEN else name


def quoted(text: str) -> str:
    """The text as a string of Python."""
    return json.dumps(text, ensure_ascii=False)


def text_of(value: Any) -> str:
    """A value that is no tensor. Raises UserError for one that Python has no literal for."""
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, torch.device):
        return f"torch.device({quoted(str(value))})"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, complex):
        return f"complex({value.real}, {value.imag})"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    raise UserError(f"--python cannot write an argument of type {type(value).__name__} as Python source")


def whole_storage(tensor: torch.Tensor) -> torch.Tensor:
    """All that lies in the storage of the tensor, gaps included, without conjugation."""
    return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())


def numbers(flat: torch.Tensor) -> list[str]:
    """The elements, each with the fewest digits that are read back as the same value."""
    if flat.is_complex():
        parts = iter(numbers(torch.view_as_real(flat).flatten()))
        return [f"complex({real}, {next(parts)})" for real in parts]
    if not flat.is_floating_point():
        return [repr(value) for value in flat.tolist()]
    texts = [""] * flat.numel()
    for digits in range(1, 18):
        left = [i for i, text in enumerate(texts) if not text]
        tried = [f"{flat[i].item():#.{digits}g}" for i in left]
        read = torch.tensor([float(text) for text in tried], dtype=flat.dtype)
        same = (read.double() == flat[left].double()) | (digits == 17)
        for i, text, is_same in zip(left, tried, same.tolist(), strict=True):
            texts[i] = re.sub(r"\.(?=$|e)", ".0", text) if is_same or text == "nan" else ""
    return texts


def storage_text(tensor: torch.Tensor) -> str:
    """The whole storage: "torch.tensor([0.5, -0.0], dtype=torch.float16)". Long lists get several lines."""
    flat, view = whole_storage(tensor), ""
    try:
        elements = numbers(flat)
    except RuntimeError:  # Python has no numbers of this dtype
        flat, view = flat.view(torch.uint8), f".view({flat.dtype})"
        elements = numbers(flat)
    text = ", ".join(elements)
    if len(text) + 2 > LINE_LENGTH / 2:
        indent = " " * 4
        lines = textwrap.TextWrapper(LINE_LENGTH - 1, indent, indent, break_on_hyphens=False)
        text = f"\n{lines.fill(text + ',')}\n"
    return f"torch.tensor([{text}], dtype={flat.dtype}){view}"


def storage_of(tensor: torch.Tensor) -> int:
    """A number that tells storages apart, also empty ones."""
    return tensor.untyped_storage()._cdata


def dtype_argument(tensor: torch.Tensor) -> str:
    """The argument that makes another tensor of this dtype."""
    return "" if tensor.dtype == torch.float32 else f", dtype={tensor.dtype}"


def values_without_numbers(tensor: torch.Tensor) -> str:
    """What makes the values if all are 1, or if they are 0, 1, 2 ...; otherwise empty."""
    if tensor.numel() == 0 or not tensor.is_floating_point():
        return ""
    values, sizes, dtype = tensor.double().flatten(), tuple(tensor.shape), dtype_argument(tensor)
    if values.equal(torch.ones_like(values)):
        return f"torch.ones({sizes}{dtype})"
    if values.equal(torch.arange(tensor.numel(), dtype=torch.float64)):
        return f"torch.arange({tensor.numel()}.0{dtype}).reshape({sizes})"
    return ""


def made(name: str, tensor: torch.Tensor, sharing: list[str], moved: str) -> str:
    """The statements that make a tensor. `sharing` names those in its storage; `moved` goes to its device."""
    room = whole_storage(tensor).numel()
    is_plain_view = not tensor.is_conj() and not tensor.is_neg()
    fills = tensor.is_contiguous() and is_plain_view and tensor.numel() == room
    storage = f"storage_{sharing[0]}"
    sizes = tuple(tensor.shape)
    view = f"{storage}.as_strided({sizes}, {tensor.stride()}, {tensor.storage_offset()})"
    if len(sharing) == 1 and is_plain_view and (values := values_without_numbers(tensor)):
        if fills:
            return f"{name} = {values}{moved}"
        if tensor.numel() <= room:  # otherwise elements overlap, and cannot be written
            filled = f"torch.full(({room},), -1.0{dtype_argument(tensor)}){moved}"
            return f"{storage} = {filled}\n{name} = {view}\n{name}.copy_({values})"
    if len(sharing) == 1 and fills:
        return f"{name} = {storage_text(tensor)}.reshape({sizes}){moved}"
    first = f"{storage} = {storage_text(tensor)}{moved}\n" if sharing[0] == name else ""
    view += ".conj()" if tensor.is_conj() else ""
    return f"{first}{name} = " + (f"torch._neg_view({view})" if tensor.is_neg() else view)


def operator(name: str, formals: list[Any]) -> str:
    """The operator, or a function of a module; of a torch.autograd.Function, what applies it.

    A method of new objects is "(lambda self_width, x: Type(width=self_width).method(x))".
    """
    namespace, is_operator, plain = name.partition("::")
    if is_operator:
        return f"torch.ops.{namespace}.{plain}" + ("" if "." in plain else ".default")
    parameters = []
    for formal in formals:
        if formal.kwarg_only and "*" not in parameters:
            parameters.append("*")
        parameters.append(python_name(formal.name))
    called = text_of_call(name.replace(":", "."), ", ".join(parameters), formals, python_name)
    return f"({called})" if called.startswith("lambda") else called


def parts_of(request: dict[str, Any]) -> dict[str, Any]:
    """What the template shows of the call. Raises UserError for one that cannot be written."""
    described = _engine.describe(request["call"])
    schema = overload_of(described["subject"])._schema
    tensors: dict[str, torch.Tensor] = {}  # by the names of their variables
    on_cpu = python_name(request["on_cpu"])
    written: set[int] = set()  # storages
    positional: list[str] = []
    keywords: dict[str, str] = {}
    arguments = _engine.arguments(request["call"], without_device=True)
    for formal, value in zip(schema.arguments, arguments, strict=False):
        if isinstance(value, torch.Tensor):
            here = {python_name(formal.name): value}
            text = next(iter(here))
        elif isinstance(value, list) and all(isinstance(each, torch.Tensor) for each in value):
            here = {python_name(f"{formal.name}[{i}]"): each for i, each in enumerate(value)}
            text = f"[{', '.join(here)}]"
        else:
            here, text = {}, text_of(value)
        tensors |= here
        if formal.alias_info and formal.alias_info.is_write:
            written |= {storage_of(tensor) for tensor in here.values()}
        if formal.kwarg_only:
            keywords[formal.name] = text
        else:
            positional.append(text)
    storages = {storage_of(tensor): whole_storage(tensor).numel() for tensor in tensors.values()}
    if (count := sum(storages.values())) > MOST_ELEMENTS:
        raise UserError(
            f"the arguments have {count} elements, and --python writes no more than {MOST_ELEMENTS}: choose "
            f"a case of a smaller sample; see `opgate list cases --op {request['call'].partition('/')[0]}`"
        )
    named = [
        f"{name}={text}" if name == python_name(name) else f"**{{{quoted(name)}: {text}}}"
        for name, text in keywords.items()
    ]
    device = described["device"]
    statements = [
        made(
            name,
            tensor,
            [other for other in tensors if storage_of(tensors[other]) == storage_of(tensor)],
            "" if device == "cpu" or name == on_cpu else f".to({quoted(device)})",
        )
        for name, tensor in tensors.items()
    ]
    texts = "".join([*statements, *positional, *named])
    return {
        "tensors": ", ".join(tensors),
        "unwritten": ", ".join(name for name in tensors if storage_of(tensors[name]) not in written),
        "statements": statements,
        "constants": ", ".join(name for name in ("inf", "nan") if name in texts),
        "operator": operator(request["operator"], schema.arguments),
        "reference": request["reference"] and operator(request["reference"], schema.arguments),
        "given": ", ".join(positional + named),
        "positional": ", ".join(positional) + "," * (len(positional) == 1),
        "keywords": ", ".join(f"{quoted(name)}: {text}" for name, text in keywords.items()),
        "returns": bool(schema.returns),
        "seeded": "nondeterministic_seeded" in described["promises"],
        "module": "" if "::" in request["operator"] else request["operator"].partition(":")[0],
    }
