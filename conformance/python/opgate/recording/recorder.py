"""Loads libopgate_record.so into Python programs that `opgate record` runs, when they import torch."""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib
import importlib.machinery
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

ENVIRONMENT = dict(os.environ)  # as the program found it
HERE = str(Path(__file__).parent)


def begin() -> None:
    """Loads the recorder. Where that fails, prints the error, and the program goes on."""
    wanted, found = os.environ.get("OPGATE_RECORD_TORCH"), sys.modules["torch"].__version__.partition("+")[0]
    if wanted and wanted != found:
        print(
            f"opgate record: nothing is recorded in this program: it uses torch {found}, and this OpGate is "
            f"built for torch {wanted}",
            file=sys.stderr,
        )
        return
    try:
        ctypes.CDLL(os.environ["OPGATE_RECORD_LIBRARY"])
    except OSError as error:
        print(f"opgate record: nothing is recorded in this program: {error}", file=sys.stderr)
        return
    atexit.register(write_origins)
    watch_registrations()
    # torch 2.15 calls operators written in Python without its C++ dispatcher, where calls are recorded. This
    # turns that shortcut off.
    overload = sys.modules["torch"]._ops.OpOverload
    if hasattr(overload, "_can_enable_pyobj_dispatch"):
        overload._can_enable_pyobj_dispatch = lambda self: False
    sys.path.insert(0, HERE)
    try:
        hooks = importlib.import_module("function_recorder.hooks")
        hooks.begin()
        LOOKING_AT_MODULES.append(hooks.look_at)
    finally:
        sys.path.remove(HERE)


LOOKING_AT_MODULES: list[Callable[[ModuleType], None]] = []  # once torch is there


def look_at_modules() -> None:
    """From now on, each module is looked at once it has been executed."""

    def looking_at_it(execute: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(execute)
        def exec_module(self: Any, module: ModuleType) -> None:
            execute(self, module)
            for look_at in LOOKING_AT_MODULES:
                look_at(module)

        return exec_module

    for loader in (importlib.machinery.ExtensionFileLoader, importlib.machinery.SourceFileLoader):
        loader.exec_module = looking_at_it(loader.exec_module)  # type: ignore[method-assign]


REGISTERED: list[tuple[str, str]] = []  # operators, and files whose import defines them or registers kernels


def watch_registrations() -> None:
    """Notes from now on which modules define an operator, or register a kernel or a fake kernel of it."""
    torch = sys.modules["torch"]

    def noting(method: Callable[..., Any], name_of: Callable[[Any, Any], str]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
            name = name_of(self, arguments[0] if arguments else None)
            REGISTERED.extend((name, file) for file in files_of_registration())
            return method(self, *arguments, **keywords)

        return call

    def in_library(library: Any, op: Any) -> str:
        name = op if isinstance(op, str) else str(getattr(op, "_name", ""))
        plain = name.partition("(")[0].rpartition("::")[2].strip()  # of a schema, or of a name with namespace
        return f"{library.ns}::{plain}"

    custom_op = torch._library.custom_ops.CustomOpDef
    for owner, methods, name_of in (
        (torch.library.Library, ("define", "impl", "_register_fake"), in_library),
        (custom_op, ("register_fake", "register_kernel", "register_autograd"), lambda op, _: op._qualname),
        (torch._ops.OpOverload, ("py_impl",), lambda op, _: op._name),
    ):
        for name in methods:
            if hasattr(owner, name):
                setattr(owner, name, noting(getattr(owner, name), name_of))


def files_of_registration() -> list[str]:
    """The files of the code that registers, outside of the functions that torch offers for it.

    Where that is a function of a library for its own use, also the module whose import calls it.
    """
    torch = str(Path(sys.modules["torch"].__file__).parent)
    offered = (f"{torch}/library.py", f"{torch}/_library/", f"{torch}/_ops.py", __file__, functools.__file__)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(offered):
        frame = frame.f_back
    files = [frame.f_code.co_filename]
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
        files.append(frame.f_code.co_filename)
    return files


def write_origins() -> None:
    """Writes the folders of imported packages, the modules of operators, and what the environment became."""
    torch = str(Path(sys.modules["torch"].__file__).parent)
    lines: list[dict[str, Any]] = []
    by_file: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        known = getattr(module, "__dict__", {})
        if isinstance(file := known.get("__file__"), str):
            by_file.setdefault(file, Path(file).stem if name == "__main__" else name)
        if "." in name or name == "torch":
            continue
        for folder in list(known.get("__path__") or [])[:1]:
            lines.append({"package": name, "folder": str(folder)})
    for op, file in dict.fromkeys(REGISTERED):
        if file in by_file and not file.startswith(torch):
            lines.append({"op": op, "module": by_file[file], "file": file})
    # What a test program prepares before it imports a package, so that the import succeeds.
    here = os.getcwd()
    for file, name in by_file.items():
        if file.startswith(here + os.sep) and "site-packages" not in file and file.endswith(".py"):
            lines.append({"program": name, "file": file})
    for name, value in os.environ.items():
        if ENVIRONMENT.get(name) != value and not name.startswith("PYTEST_"):
            lines.append({"variable": name, "value": value})
    file = Path(os.environ["OPGATE_RECORD"]) / f"{os.getpid()}-python.jsonl"
    if file.parent.is_dir():
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
