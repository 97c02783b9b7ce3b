"""The operators of a namespace, or the functions of a module, with their schemas and recorded calls."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from opgate import _engine
from opgate.functions.registered import is_function, operator_of
from opgate.modules.kernel_folders import registered_name, stable_name
from opgate.request import UserError


@dataclass
class Operator:
    """One overload, or one function."""

    name: str
    """ "ns::op", "ns::op.overload" or "module:function"."""
    schema: torch._C.FunctionSchema
    recorded: dict[str, Any] | None = None
    """Its calls that `opgate record` kept; see spec/recordings.h."""
    tensors: list[str] = field(default_factory=list)
    """The names of the arguments that are tensors, or lists of tensors."""

    @property
    def word(self) -> str:
        """The name as a Python identifier: "add_Tensor"."""
        return (
            self.name.partition(":" if is_function(self.name) else "::")[2]
            .replace("().", "_")
            .replace(".", "_")
        )

    @property
    def schema_text(self) -> str:
        """The schema with the name by which specs know it."""
        text = str(self.schema)
        return self.name + text[text.index("(") :]

    def devices(self) -> list[str]:
        """The devices for which it has a kernel; a composite operator has one for every device."""
        if is_function(self.name) and self.recorded is not None:
            return sorted(self.recorded["dtypes"])
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        name = operator_of(self.name)
        composite = any(has(name, key) for key in ("CompositeImplicitAutograd", "CompositeExplicitAutograd"))
        return [device for device, key in _engine.device_types().items() if composite or has(name, key)]


def recordings(folder: Path | None) -> dict[str, dict[str, Any]]:
    """The recordings in the folder, by operator. Raises UserError, naming the file, for any other JSON."""
    found = {}
    for file in sorted(folder.glob("*.json")) if folder is not None else []:
        try:
            described = json.loads(file.read_text())
            found[described["op"]] = described
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{file}: not a record of calls: {error}") from error
    return found


def operators_of(namespace: str, recorded: dict[str, dict[str, Any]]) -> list[Operator]:
    """The operators of the namespace, or the recorded functions of the module, sorted by name."""
    found = [
        described(name, torch._C._get_schema(operator_of(name), ""), recorded)
        for name in sorted(recorded)
        if is_function(name) and name.partition(":")[0] == namespace
    ]
    registered = registered_name(namespace)
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if name.partition("::")[0] != registered:
            continue
        base, _, overload = name.partition(".")
        found.append(described(stable_name(name), torch._C._get_schema(base, overload), recorded))
    return found


def described(name: str, schema: torch._C.FunctionSchema, recorded: dict[str, dict[str, Any]]) -> Operator:
    """The operator or function with this schema."""
    tensors = [argument.name for argument in schema.arguments if "Tensor" in str(argument.type)]
    return Operator(name, schema, recorded.get(name), tensors)
