"""Which functions `opgate record` records, beside operators.

- Functions of extension modules that say in their docstring that they take tensors, as pybind11 writes it,
  and methods of their classes.
- Every torch.autograd.Function, where it is applied.
- Functions of Python modules that name a kernel: of Triton, of a module of tvm-ffi, or one that
  torch.cuda._compile_kernel or CuPy has compiled; and those that name a private function which does.
- Those that OPGATE_RECORD_FUNCTIONS names: "mylib.ops:*,mylib:scaled_add", separated by commas.

A module's functions are replaced right after the module has been executed, so that every later import of them
gets the recording wrapper, also in the module that imports torch first.
"""

from __future__ import annotations

import atexit
import fnmatch
import functools
import importlib.machinery
import inspect
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from .calls import Function, write_line
from .methods import MethodSignature, can_be_watched, methods_of, recorded_method, watch_objects
from .objects import call_of, can_watch, recorded_partial, watch
from .signature import Signature

WANTED = [pattern for pattern in os.environ.get("OPGATE_RECORD_FUNCTIONS", "").split(",") if pattern]
ONLY_WANTED = "OPGATE_RECORD_NAMESPACES" in os.environ  # operators were chosen, so functions are, too
OWN = tuple(str(Path(module.__file__ or "").parent) + os.sep for module in (torch, os))
KERNELS = (
    ("triton.runtime.jit", "JITFunction"),
    ("tvm_ffi.module", "Module"),
    ("tvm_ffi.core", "Function"),
    ("torch.cuda._utils", "_CudaKernel"),
    ("cupy", "RawKernel"),
)
"""Classes of kernels, and of modules that have kernels, by the modules of Python that define them."""
WORDS_OF_TENSORS = ("torch.Tensor", "at::Tensor", "Tensor]", ": Tensor")

FUNCTIONS: dict[str, Function] = {}


def begin() -> None:
    """Records from now on; recorder.py calls look_at() for each module that has been executed."""
    if not ONLY_WANTED:
        watch_autograd_functions()
    atexit.register(finish)


def look_at(module: types.ModuleType) -> None:
    """Replaces the functions of a module that are to be recorded."""
    if str(getattr(module, "__file__", None) or "").startswith(OWN):
        return
    for name, value in list(vars(module).items()):
        is_in_cpp = isinstance(value, types.BuiltinFunctionType)
        if is_wanted(module, name, value) or (
            not ONLY_WANTED and is_in_cpp and has_tensor_in_doc(module, value)
        ):
            record(module, name, value)
        elif not ONLY_WANTED and launches(module, value):
            record(module, name, value)
            FUNCTIONS[f"{imported_as(module)}:{name}"].facts.is_launcher = True
        elif isinstance(value, type) and value.__module__ == module.__name__:
            look_at_class(module, value)


def look_at_class(module: types.ModuleType, owner: type) -> None:
    """Replaces the methods that are to be recorded."""
    if issubclass(owner, torch.autograd.Function):
        return
    for name, value in list(vars(owner).items()):
        qualname = f"{owner.__qualname__}.{name}"
        if isinstance(value, staticmethod | classmethod) and is_named(module, qualname):
            call = recorded(module, qualname, getattr(owner, name))
            setattr(owner, name, staticmethod(call))
    wanted = {
        name: MethodSignature(owner, method, name)
        for name, method in methods_of(owner)
        if is_named(module, f"{owner.__qualname__}().{name}")
        or not ONLY_WANTED
        and has_tensor_in_doc(module, method)
    }
    if not wanted or not can_be_watched(owner):
        return
    watch_objects(owner)
    for name, signature in wanted.items():
        method = vars(owner)[name]
        known = function_named(module, f"{owner.__qualname__}().{name}", method, signature)
        setattr(owner, name, recorded_method(known, method))


def record(module: types.ModuleType, name: str, value: Any) -> None:
    """Records the calls of what the module has under this name. An object stays the object that it is."""
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        setattr(module, name, recorded(module, name, value))
    elif isinstance(value, functools.partial):
        setattr(module, name, recorded_partial(value, function_named(module, name, value)))
    elif is_of_others(type(value)) or isinstance(value, torch.nn.Module):
        if can_watch(value):
            watch(value, function_named(module, name, call_of(value), Signature.of(value)))
    elif (
        f"{module.__name__}:{name}" in WANTED
    ):  # such as a scripted function, of which a pattern says too little
        setattr(module, name, recorded(module, name, value))


def is_of_others(owner: type) -> bool:
    """Whether the class is neither torch's nor of Python's own library."""
    file = str(getattr(sys.modules.get(owner.__module__), "__file__", None) or "")
    return bool(file) and not file.startswith(OWN)


def is_wanted(module: types.ModuleType, name: str, value: Any) -> bool:
    """Whether OPGATE_RECORD_FUNCTIONS names the function, and the module has not imported it."""
    if not callable(value) or isinstance(value, type | types.ModuleType):
        return False
    is_own = getattr(value, "__module__", None) in (module.__name__, None) or not hasattr(value, "__code__")
    return is_own and is_named(module, name)


def is_named(module: types.ModuleType, qualname: str) -> bool:
    """Whether OPGATE_RECORD_FUNCTIONS has a pattern for the function."""
    return any(fnmatch.fnmatchcase(f"{module.__name__}:{qualname}", pattern) for pattern in WANTED)


def has_tensor_in_doc(module: types.ModuleType, value: Any) -> bool:
    """Whether the module is in C++, and the docstring that pybind11 has written names a tensor argument."""
    if not isinstance(getattr(module, "__loader__", None), importlib.machinery.ExtensionFileLoader):
        return False
    doc = getattr(value, "__doc__", None)
    if not isinstance(doc, str):
        return False
    parameters = doc if "Overloaded function." in doc else doc.partition("->")[0]
    return any(word in parameters for word in WORDS_OF_TENSORS)


def launches(module: types.ModuleType, value: Any) -> bool:
    """Whether this is a function of the module that names a kernel, by itself or in private functions."""
    if not isinstance(value, types.FunctionType) or value.__module__ != module.__name__:
        return False
    # Modules of Triton itself are executed before its class is there.
    classes = [getattr(sys.modules.get(name), kernel, None) for name, kernel in KERNELS]
    kernels = tuple(kernel for kernel in classes if isinstance(kernel, type))
    return bool(kernels) and names_kernel(value, kernels, set())


def names_kernel(
    function: types.FunctionType, kernels: tuple[type, ...], seen: set[types.FunctionType]
) -> bool:
    """Whether the function, or a private one that it names, names a kernel which its module has."""
    seen.add(function)
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    if any(isinstance(kernel_in(one), kernels) for one in named):
        return True
    functions = (inspect.unwrap(one) for one in named if isinstance(one, types.FunctionType))
    private = [one for one in functions if one.__name__.startswith("_") and one not in seen]
    return any(isinstance(one, types.FunctionType) and names_kernel(one, kernels, seen) for one in private)


def kernel_in(value: Any) -> Any:
    """The innermost function of what triton.autotune and triton.heuristics have wrapped."""
    while hasattr(value, "fn") and hasattr(value.fn, "run"):
        value = value.fn
    return value


def recorded(module: types.ModuleType, qualname: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes the same calls and records them."""
    known = function_named(module, qualname, function)

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        return known(arguments, keywords)

    return call


def function_named(
    module: types.ModuleType,
    qualname: str,
    function: Callable[..., Any],
    signature: Signature | None = None,
) -> Function:
    """What records the calls; the signature is that of `function` unless another one is given."""
    name = f"{imported_as(module)}:{qualname}"
    FUNCTIONS[name] = Function(name, function, signature or Signature.of(function))
    write_origin(name, module)
    return FUNCTIONS[name]


def watch_autograd_functions() -> None:
    """Records where each torch.autograd.Function of the program is applied."""
    base = torch.autograd.Function
    original = vars(base)["apply"]

    def apply(cls: type, *arguments: Any, **keywords: Any) -> Any:
        known = function_of(cls)
        if known is None:
            return original.__get__(None, cls)(*arguments, **keywords)
        return known(arguments, keywords)

    def function_of(cls: type) -> Function | None:
        module = sys.modules.get(cls.__module__)
        file = getattr(module, "__file__", None)
        if module is None or not file or file.startswith(OWN) or "<locals>" in cls.__qualname__:
            return None
        known = FUNCTIONS.get(f"{imported_as(module)}:{cls.__qualname__}")
        apply_it = original.__get__(None, cls)
        return known or function_named(module, cls.__qualname__, apply_it, Signature.of(cls))

    base.apply = classmethod(apply)  # type: ignore[assignment]


def write_origin(name: str, module: types.ModuleType) -> None:
    """Writes which module a new process must import."""
    if module.__file__:
        write_line({"op": name, "module": imported_as(module), "file": module.__file__})


def imported_as(module: types.ModuleType) -> str:
    """The name by which another process imports the module."""
    name, file = module.__name__, module.__file__
    return Path(file).stem if name == "__main__" and file else name


def finish() -> None:
    """Writes what is known at the end only."""
    for function in FUNCTIONS.values():
        function.finish()
