"""What operators are registered with, where Python modules register operators and kernels, too."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import torch
from torch._library.custom_ops import CustomOpDef, _maybe_get_opdef
from torch._library.utils import can_generate_trivial_fake_impl

from opgate import _engine
from opgate.modules.kernel_folders import registered_name, stable_name
from opgate.request import UserError

# torch.library.define(NAME, SCHEMA) registers from this file of torch, whatever code calls it.
DEFINED_BY_NAME = torch.library.__file__


def registered(others: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What spec/registration.h says of each operator with a spec and of `others`, by name."""
    registrations = _engine.registrations(list(others))
    known = all_operators()
    for name, registration in registrations.items():
        if registered_name(name) not in known:  # a module or a function
            continue
        if custom_op := _maybe_get_opdef(registered_name(name)):
            unwritten = unwritten_kernels(custom_op)
            registration["kernels"] = [key for key in registration["kernels"] if key not in unwritten]
            registration["fake"] = "Meta" not in unwritten
        registration["files"] = sorted({*registration["files"], *registering_files(registered_name(name))})
    return registrations


def unwritten_kernels(custom_op: CustomOpDef) -> set[str]:
    """The dispatch keys of kernels that torch registers for each custom_op, without a function of its author.

    Such a kernel calls what `register_fake` or `register_autograd` was given, and raises without it.
    """
    keys = set()
    if custom_op._abstract_fn is None and not can_generate_trivial_fake_impl(custom_op._opoverload):
        keys.add("Meta")
    if custom_op._backward_fn is None:
        keys.add("Autograd")
    return keys


def all_operators() -> set[str]:
    """The names of all operators of this process: "namespace::op" or "namespace::op.overload".

    Those with kernels and without a schema, which nothing has defined yet, are among them.
    """
    return set(torch._C._dispatch_get_all_op_names())


def with_schema(operators: Iterable[str]) -> set[str]:
    """Those of `operators` that have a schema by now."""
    return {name for name in operators if "schema: (none)" not in torch._C._dispatch_dump(name)}


def defined_in(files: Collection[str], operators: Iterable[str], namespaces: Collection[str]) -> list[str]:
    """The subjects among `operators` that these Python files define, sorted.

    Modules import others, such as parts of torch, which define operators of their own. Where PyTorch does
    not keep the file that defines an operator, it counts if it is in one of the `namespaces`, or in that of
    another operator of these files.
    """
    places = {name: registering_files(name) for name in with_schema(operators)}
    known = {name for name, place in places.items() if place & set(files)}
    namespaces = {*map(registered_name, namespaces), *(name.partition("::")[0] for name in known)}
    unknown = {name for name, place in places.items() if not place}
    known |= {name for name in unknown if name.partition("::")[0] in namespaces}
    return sorted(map(stable_name, known))


def places(key: str) -> dict[str, str]:
    """Where each kernel of torch's own operators at this dispatch key was registered: "my_backend.py:12"."""
    line = re.compile(rf"^{key}(?:\[alias\])?: registered at (.*?) ::", re.MULTILINE)
    found = {}
    for name in all_operators():
        if name.startswith("aten::") and (place := line.search(torch._C._dispatch_dump(name))):
            found[name] = place[1]
    return found


class ReplacedKernels:
    """The operators of torch's own whose recordings are for kernels of the project's."""

    def __init__(self, recorded: str) -> None:
        """Reads the recordings in this folder. The project must not be loaded yet."""
        self._keys: dict[str, str] = {}
        for file in Path(recorded).glob("*.json") if recorded else []:
            with contextlib.suppress(ValueError):  # the engine reports what is no recording
                known = json.loads(file.read_text())
                if isinstance(known, dict) and {"op", "replaced_at"} <= known.keys():
                    self._keys[known["op"]] = known["replaced_at"]
        self._before = {key: places(key) for key in {*self._keys.values()}}
        _engine.keep_kernels_of_torch(self._keys)

    def share_keys(self) -> None:
        """Lets torch's kernels run while the engine computes, and the project's while they are under test.

        Raises UserError if a kernel is still torch's own, so that its calls would show nothing.
        """
        after = {key: places(key) for key in self._before}
        for name, key in self._keys.items():
            if after[key].get(name) == self._before[key].get(name):
                raise UserError(
                    f"nothing that opgate.toml loads replaces the kernel of {name} at {key}, for which its "
                    "calls were recorded: add the module to `python` or the library to `libraries`, or "
                    "delete the recording"
                )
        _engine.choose_kernels_by_scope()


def registering_files(name: str) -> set[str]:
    """The Python files that define the operator or register its kernels; empty if none is known."""
    if custom_op := _maybe_get_opdef(name):
        functions = [custom_op._init_fn, custom_op._abstract_fn]  # the first is torch's own for a triton_op
        modules = [sys.modules.get(inspect.unwrap(function).__module__) for function in functions if function]
        return {file for module in modules if (file := getattr(module, "__file__", None))}
    files = set(re.findall(r"registered at (.*\.py):\d+", torch._C._dispatch_dump(name)))
    return files - {DEFINED_BY_NAME}
