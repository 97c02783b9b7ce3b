"""Loads libopgate_record.so into a Python program that `opgate record` runs, when the program imports torch.

Python imports a module of this name when it starts. Another sitecustomize, which this one hides, is imported,
too.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType

HERE = str(Path(__file__).parent)


class LoaderThatTells(importlib.abc.Loader):
    """Loads torch with torch's own loader, and then the recorder."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self.loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Calls torch's own loader."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Calls torch's own loader; then the recorder begins."""
        self.loader.exec_module(module)
        begin()


class TorchFinder(importlib.abc.MetaPathFinder):
    """Finds torch where it would be found anyway, and wraps its loader."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answers only for torch, and only once."""
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = LoaderThatTells(spec.loader)
        return spec


def begin() -> None:
    """Loads the recorder. Where that fails, prints the error, and the program goes on."""
    try:
        ctypes.CDLL(os.environ["OPGATE_RECORD_LIBRARY"])
    except OSError as error:
        print(f"opgate record: nothing is recorded in this program: {error}", file=sys.stderr)
        return
    atexit.register(write_origins)
    # torch 2.15 calls operators written in Python without its C++ dispatcher, where calls are recorded. This
    # turns that shortcut off.
    overload = sys.modules["torch"]._ops.OpOverload
    if hasattr(overload, "_can_enable_pyobj_dispatch"):
        overload._can_enable_pyobj_dispatch = lambda self: False


def write_origins() -> None:
    """Writes the folders of imported packages, and the modules of operators that are written in Python."""
    lines: list[dict[str, str]] = []
    for name, module in list(sys.modules.items()):
        if "." in name or name == "torch":
            continue
        for folder in list(getattr(module, "__path__", None) or [])[:1]:
            lines.append({"package": name, "folder": str(folder)})
    custom_ops = sys.modules.get("torch._library.custom_ops")
    for op, defined in dict(getattr(custom_ops, "OPDEFS", {})).items():
        module = sys.modules.get(getattr(getattr(defined, "_init_fn", None), "__module__", ""))
        if module is not None and getattr(module, "__file__", None):
            lines.append({"op": op, "module": module.__name__, "file": str(module.__file__)})
    file = Path(os.environ["OPGATE_RECORD"]) / f"{os.getpid()}-python.jsonl"
    if file.parent.is_dir():
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def import_the_other() -> None:
    """Imports the sitecustomize that this one hides, if there is one."""
    sys.path[:] = [folder for folder in sys.path if folder != HERE]
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if this is not None:
            sys.modules["sitecustomize"] = this


if "OPGATE_RECORD" in os.environ:
    sys.meta_path.insert(0, TorchFinder())
import_the_other()
