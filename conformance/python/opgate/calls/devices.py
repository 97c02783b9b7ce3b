"""What calls need of an accelerator, by the interface that torch has for all of them."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

import torch

from opgate import _engine


def start(device: str) -> None:
    """Does what modules have left to the first use of the device, such as a seed: it is not the call's."""
    if device == "cpu":
        return
    module: Any = torch.get_device_module(device)
    if module.is_available() and hasattr(module, "init"):
        module.init()


def wait_for(device: str) -> None:
    """Waits for the kernels of a call: one that fails must not do so in the next call."""
    if device != "cpu":
        torch.get_device_module(device).synchronize()


def take_failure(place: str) -> str:
    """How the simulated device has failed since it was asked last, and repairs it: "" if it has not."""
    return _engine.take_failure() if place == "sim" else ""


def end_if_lost(place: str) -> None:
    """Ends the process if a kernel has made the device unusable: each later call here would repeat its error.

    So do native workers: the supervisor blames what it was working on. The next calls get a process of their
    own. A simulated device is repaired instead.
    """
    if place in ("cpu", "sim") or not _engine.is_lost(place):
        return
    print(f"the {place} context of this process is lost after this call", file=sys.stderr, flush=True)
    os._exit(1)


def accelerator() -> ModuleType | None:
    """torch's module for the accelerator that it was built for, such as torch.cuda; None without one."""
    built_for = torch.accelerator.current_accelerator()
    return torch.get_device_module(built_for) if built_for else None


def refuses_devices() -> bool:
    """Whether torch would raise "Cannot re-initialize CUDA in forked subprocess" here."""
    return getattr(accelerator(), "_is_in_bad_fork", lambda: False)()


def has_devices() -> bool:
    """Whether the accelerator's module counts a device here."""
    module: Any = accelerator()
    return module is not None and module.device_count() > 0
