"""Which of torch's operators a call reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Operators that compute nothing: they allocate, copy, or make another view.
WITHOUT_WORK = frozenset(
    [
        "empty",
        "empty_like",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "zeros",
        "zeros_like",
        "new_zeros",
        "ones",
        "full",
        "view",
        "_unsafe_view",
        "reshape",
        "as_strided",
        "expand",
        "permute",
        "transpose",
        "t",
        "unsqueeze",
        "squeeze",
        "slice",
        "select",
        "detach",
        "alias",
        "clone",
        "copy_",
        "_to_copy",
        "contiguous",
        "lift_fresh",
        "resize_",
        "unbind",
        "split",
        "narrow",
        "flatten",
        "set_",
        "zero_",
        "fill_",
    ]
)


class Watch(TorchDispatchMode):
    """Keeps the names of the operators that are called in the block."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Otherwise torch imports its compiler, which takes seconds, to keep it away from this class."""
        return False

    def __torch_dispatch__(self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        """Keeps the name and calls the operator."""
        self.names.append(operator.name())
        return operator(*arguments, **(keywords or {}))


def operators_of(call: Callable[[], Any]) -> list[str]:
    """The operators that the call reaches, in order; also those before it raises."""
    with Watch() as watch, torch.no_grad():
        try:
            call()
        except Exception:
            return watch.names
    return watch.names


def that_work(names: list[str]) -> list[str]:
    """The operators among these that compute something."""
    return [name for name in names if name.partition("::")[2].partition(".")[0] not in WITHOUT_WORK]
