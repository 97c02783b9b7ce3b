"""Finds which kernels of torch's operators the project's libraries and modules replace at a dispatch key.

Reads {"key", "libraries", "modules"}, and prints {OPERATOR: {"place", "variants"}}: where each kernel was
registered, and which variants of the operator in place and with `out` keep torch's own kernel.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Collection
from typing import Any

import torch
from torch._C import DispatchKey

from opgate.modules.registration import places
from opgate.request import UserError, asked, status_of
from opgate.worker.setting_up import load_libraries, load_modules


def kept(name: str, key: str, kernels: Collection[str]) -> list[str]:
    """The variants of an operator, in place or with `out`, for which torch's kernel stays."""
    namespace, _, rest = name.partition("::")
    plain, _, overload = rest.partition(".")
    operators = getattr(torch.ops, namespace)
    own = getattr(getattr(operators, plain, None), overload or "default", None)
    if own is None or own._schema.is_mutable:  # torch may have no such overload
        return []
    variants = [
        getattr(packet, each)
        for packet in (getattr(operators, f"{plain}_", None), getattr(operators, plain))
        if packet is not None
        for each in packet.overloads()
    ]
    return [
        variant.name()
        for variant in variants
        if variant._schema.is_mutable and arguments_of(variant) == arguments_of(own)
        if variant.name() not in kernels and variant.has_kernel_for_dispatch_key(getattr(DispatchKey, key))
    ]


def arguments_of(overload: torch._ops.OpOverload) -> list[tuple[str, str]]:
    """Name and type of each argument, without those that are only written."""
    arguments = [each for each in overload._schema.arguments if not each.is_out]
    return [(each.name, str(each.type)) for each in arguments]


def find(request: dict[str, Any]) -> int:
    """Prints the kernels that loading the project has replaced or added."""
    key = request["key"]
    before = places(key)
    with contextlib.redirect_stdout(sys.stderr):
        waiting = load_libraries(request["libraries"])
        load_modules(request["modules"])
        failures = load_libraries(waiting)
    if failures:
        raise UserError(next(iter(failures.values())))
    kernels = {name: place for name, place in places(key).items() if before.get(name) != place}
    found = {name: {"place": place, "variants": kept(name, key, kernels)} for name, place in kernels.items()}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(status_of(lambda: find(asked())))
