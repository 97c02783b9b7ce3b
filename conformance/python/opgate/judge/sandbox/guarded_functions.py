"""Functions that checkers rely on, and that a kernel has no reason to replace.

The judge and all its processes are forks of one process, so that a function that was not replaced has the
same address in each of them: the judge compares addresses that a candidate's process reports with its own.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import os
import random
import struct
import threading
import time
import timeit
from typing import Any

import torch
import torch.testing

GUARDED: dict[Any, str] = {
    torch: "allclose equal isclose save load max min abs sub eq ne all any isnan isfinite sum from_numpy "
    "empty empty_like zeros rand randn randint is_tensor no_grad inference_mode",
    torch.testing: "assert_close",
    torch.Tensor: "allclose equal isclose eq ne __eq__ __ne__ data_ptr untyped_storage size stride "
    "storage_offset element_size numel clone copy_ cpu to numpy detach item tolist max min abs sub __sub__ "
    "all any double float is_contiguous contiguous",
    torch.nn.Module: "__call__ state_dict load_state_dict parameters to",
    torch.cuda: "synchronize Event Stream current_stream default_stream",
    torch.cuda.Event: "record elapsed_time synchronize",
    time: "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time sleep",
    timeit: "default_timer timeit repeat",
    os: "write read close urandom",
    json: "dumps loads",
    struct: "pack unpack",
    hashlib: "sha256",
    random: "random randint seed",
    threading: "enumerate active_count",
    builtins: "type isinstance issubclass id abs all any max min sum len getattr print compile exec",
}
"""What is not here may be replaced by torch itself, such as torch.manual_seed by torch._dynamo."""

NAMES = [(owner, name) for owner, names in GUARDED.items() for name in names.split()]


def addresses() -> list[list[int]]:
    """The address of each function, and of its code if it is written in Python."""
    found = []
    for owner, name in NAMES:
        present = getattr(owner, name, None)
        found.append([id(present), id(getattr(present, "__code__", None))])
    return found


def replaced(reported: Any) -> list[str]:
    """The names of the functions whose address is not that of this process."""
    here = addresses()
    if not isinstance(reported, list) or len(reported) != len(here):
        return ["the list of addresses"]
    return [
        f"{owner.__name__}.{name}"
        for (owner, name), one, other in zip(NAMES, here, reported, strict=True)
        if one != other
    ]
