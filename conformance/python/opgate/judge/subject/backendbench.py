"""Folders of kernels for torch's operators, as BackendBench has them:

FOLDER/add__Tensor/add__Tensor_implementation_v1.py    with a function add__Tensor_kernel_impl
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from opgate.judge.subject.argument_file import traced_calls
from opgate.judge.subject.source_file import SourceFile
from opgate.request import UserError


@dataclass(frozen=True)
class KernelFolder:
    """The kernels in the place of one overload."""

    reference: SourceFile
    candidates: list[SourceFile]


def kernel_folders(folder: Path, calls: Path | None) -> list[KernelFolder]:
    """All of them, by name; `calls` is a file with calls of the overloads. Raises UserError."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}")
    traced = traced_calls(calls) if calls else {}
    found = []
    for each in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(each.glob(f"{each.name}_implementation*.py"))
        overload = overload_of_folder(each.name)
        candidates = [
            SourceFile(file.resolve(), f"{each.name}_kernel_impl", overload=overload) for file in files
        ]
        if candidates:
            of_overload = tuple(traced.get(overload, ()))
            reference = SourceFile(None, overload, overload=overload, calls=of_overload)
            found.append(KernelFolder(reference, candidates))
    if not found:
        raise UserError(
            f"{folder} has no kernels: they are files NAME/NAME_implementation*.py, and NAME is an overload "
            "such as add__Tensor"
        )
    return found


def overload_of_folder(name: str) -> str:
    """aten::add.Tensor for add__Tensor, aten::add_.Tensor for add___Tensor, aten::relu for relu__default."""
    parted = re.fullmatch(r"(.+)__(?!_)(.+)", name)
    plain, overload = parted.groups() if parted else (name, "default")
    return f"aten::{plain}" + (f".{overload}" if overload != "default" else "")
