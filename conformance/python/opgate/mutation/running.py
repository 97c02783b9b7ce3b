"""The worker's side of mutants in Python: it loads the changed modules, and knows which mutant runs.

`opgate mutate` names the file that `build.py` has written in OPGATE_PYTHON_MUTANTS. A module is known by its
file, or, if it was installed as a copy, by its content, so that all else that Python finds beside a module,
such as its libraries, is found.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from opgate.request import UserError

VARIABLE = "OPGATE_PYTHON_MUTANTS"


@dataclass
class State:
    """Which mutant runs in this process (0: none), and, if that is negative, which of them are reached."""

    chosen: int
    reached: set[int]
    refused: str
    """Why Triton did not compile the mutant; empty if it did, or has not been asked."""


STATE = State(0, set(), "")


def is_chosen(number: int) -> bool:
    """Whether this mutant is the chosen one."""
    if STATE.chosen < 0:
        STATE.reached.add(number)
    return STATE.chosen == number


def transposed(number: int, result: Any) -> Any:
    """The same tensor with its last two dimensions the other way round in memory, if it has two."""
    if result.dim() < 2 or not is_chosen(number):
        return result
    return result.transpose(-1, -2).contiguous().transpose(-1, -2)


SWITCHES = {
    "_opgate_is": is_chosen,
    "_opgate_transposed": transposed,
    "_opgate_no_guard": contextlib.nullcontext,
}


@dataclass(frozen=True)
class Changed:
    """A source of the project that has mutants."""

    file: str
    name: str
    """For the module, with those of its packages."""
    digest: str
    code: str
    """The file of the module with its mutants behind switches."""
    functions: list[str]
    kernels: dict[str, dict[str, str]]
    """By its first line: what Triton is to compile instead of a function, by the mutant's number."""


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with its mutants, under its own name and file."""

    def __init__(self, name: str, path: str, changed: Changed) -> None:
        super().__init__(name, path)
        self.changed = changed

    def get_code(self, fullname: str) -> CodeType:
        """The changed code, which no cache of Python has, and which leaves none."""
        return compile(Path(self.changed.code).read_bytes(), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Executes the module, in which the switches are global names."""
        vars(module).update(SWITCHES)
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules where they would be found anyway, and loads those that have mutants."""

    def __init__(self, sources: Sequence[Changed]) -> None:
        self.sources = sources
        self.last_names = {each.name.split(".")[-1] for each in sources}
        self.searching: set[str] = set()
        self.loaded: dict[str, Changed] = {}
        """By the path with which Python has loaded it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answers only for modules that have mutants."""
        if name in self.searching or name.split(".")[-1] not in self.last_names:
            return None
        self.searching.add(name)
        try:
            found = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
            spec = next((each for each in found if each is not None), None)
        finally:
            self.searching.remove(name)
        is_source = spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        changed = self.changed(Path(spec.origin)) if is_source and spec.origin else None
        if changed is None:
            return None
        self.loaded[spec.loader.path] = changed
        spec.loader = Loader(name, spec.loader.path, changed)
        return spec

    def changed(self, file: Path) -> Changed | None:
        """The source with mutants that this file is, or that it is a copy of."""
        real = file.resolve()
        for each in self.sources:
            if each.file == str(real):
                return each
        digest = hashlib.sha256(real.read_bytes()).hexdigest()
        return next(
            (each for each in self.sources if each.digest == digest and Path(each.file).name == file.name),
            None,
        )

    def kernel_of(self, jit: Any) -> dict[str, str]:
        """The mutants of a function that Triton compiles, by their numbers."""
        changed = self.loaded.get(jit.fn.__code__.co_filename)
        return {} if changed is None else changed.kernels.get(str(jit.fn.__code__.co_firstlineno), {})

    def demand_right_modules(self) -> None:
        """Raises UserError if a source's module was loaded, but from another file with other content."""
        self._demand_known_kernels()
        right = {each.file for each in self.loaded.values()}
        for each in self.sources:
            module = sys.modules.get(each.name)
            other = getattr(module, "__dict__", {}).get("__file__")
            if each.file in right or not isinstance(other, str):
                continue
            # Another program may have a module of the same name.
            if sum(name in vars(module) for name in each.functions) * 2 >= len(each.functions):
                raise UserError(
                    f"the module {each.name} was loaded from {other}, which is not the file {each.file} and "
                    "differs from it, so that the mutants of that file would not run; name its folder in "
                    "`python_path` of opgate.toml, or install the package again (pip install -e .)"
                )

    def _demand_known_kernels(self) -> None:
        """Raises UserError if Triton compiles a function that has switches, which it would not read."""
        for each in self.loaded.values():
            for name, value in vars(sys.modules[each.name]).items() if each.name in sys.modules else ():
                function = getattr(value, "fn", None)
                if not type(value).__module__.startswith("triton.") or not hasattr(function, "__code__"):
                    continue
                if "_opgate_is" in function.__code__.co_names:
                    raise UserError(
                        f"{each.file}: Triton compiles {name}, though none of its decorators is made from "
                        "triton.jit in this file; leave the file out (--without)"
                    )


class Kernels:
    """The functions of this process that Triton compiles, and what is done when they are launched."""

    def __init__(self, finder: Finder, folder: str) -> None:
        self.finder = finder
        self.folder = folder
        self.all: list[Any] = []
        self.mutated: list[tuple[Any, str, str]] = []
        """Functions in which the chosen mutant is, with their code without and with it."""

    def watch(self) -> None:
        """From now on, each such function is known. Triton is imported, if it can be."""
        try:
            from triton.runtime.jit import JITFunction
        except ImportError:
            return
        if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
            raise UserError(
                "Triton interprets kernels, and compiles no mutant of them; unset TRITON_INTERPRET"
            )
        make, run, compiled = JITFunction.__init__, JITFunction.run, JITFunction._do_compile

        def make_and_note(function: Any, *args: Any, **kwargs: Any) -> None:
            make(function, *args, **kwargs)
            self.all.append(function)
            self.choose_for(function)

        def run_and_note(function: Any, *args: Any, **kwargs: Any) -> Any:
            if STATE.chosen < 0:
                for each in self.called_by([function, *args, *kwargs.values()]):
                    STATE.reached.update(map(int, self.finder.kernel_of(each)))
            return run(function, *args, **kwargs)

        def compile_and_note(function: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return compiled(function, *args, **kwargs)
            except Exception as error:
                if self.compiles_without_mutant(function, lambda: compiled(function, *args, **kwargs)):
                    lines = str(error).strip().splitlines()
                    STATE.refused = f"{type(error).__name__}: {lines[-1].strip() if lines else ''}"
                raise

        JITFunction.__init__ = make_and_note
        JITFunction.run = run_and_note
        JITFunction._do_compile = compile_and_note

    def choose_for(self, function: Any) -> None:
        """Lets Triton compile the chosen mutant, if it is one of this function."""
        code = self.finder.kernel_of(function).get(str(STATE.chosen))
        if code is None:
            return
        # What is compiled from mutants is read by nothing else.
        os.environ["TRITON_CACHE_DIR"] = f"{self.folder}/triton"
        os.environ["OPGATE_SIM_CACHE"] = f"{self.folder}/simulator"
        self.mutated.append((function, function.src, code))
        self._set_source(function, code)

    def compiles_without_mutant(self, function: Any, compiled: Callable[[], object]) -> bool:
        """Whether a function with the chosen mutant in it, which Triton did not compile, is right without it.

        Triton also refuses arguments of some types, which has nothing to do with a mutant.
        """
        called = self.called_by([function])
        mutated = [entry for entry in self.mutated if any(entry[0] is each for each in called)]
        if not mutated:
            return False
        for each, original, _ in mutated:
            self._set_source(each, original)
        try:
            compiled()
        except Exception:  # Triton raises any
            return False
        finally:
            for each, _, code in mutated:
                self._set_source(each, code)
        return True

    def _set_source(self, function: Any, code: str) -> None:
        function._unsafe_update_src(code)
        for each in self.all:
            each.hash = None
            each.device_caches.clear()

    def called_by(self, functions: Sequence[Any]) -> list[Any]:
        """Those of these objects that Triton compiles, and all such functions that they call."""
        from triton.runtime.jit import JITCallable

        found: list[Any] = []
        waiting = list(functions)
        while waiting:
            function = waiting.pop()
            if isinstance(function, JITCallable) and not any(function is each for each in found):
                found.append(function)
                waiting += _named_in(function)
        return found


def _named_in(function: Any) -> Iterator[Any]:
    """What the names in the code of a function that Triton compiles stand for."""
    scope = function.get_capture_scope()
    for name in function.fn.__code__.co_names + function.fn.__code__.co_freevars:
        value = scope.get(name)
        if isinstance(value, ModuleType):
            yield from (vars(value).get(other) for other in function.fn.__code__.co_names)
        yield value


_finder: Finder | None = None
_kernels: Kernels | None = None


def install() -> None:
    """Before any module is loaded: those that the file of OPGATE_PYTHON_MUTANTS names will have mutants."""
    global _finder, _kernels
    if not (table := os.environ.get(VARIABLE)):
        return
    said = json.loads(Path(table).read_text())
    sources = [Changed(**each) for each in said["sources"]]
    _finder = Finder(sources)
    sys.meta_path.insert(0, _finder)
    if any(each.kernels for each in sources):
        _kernels = Kernels(_finder, said["folder"])
        _kernels.watch()


def demand_right_modules() -> None:
    """After the modules were loaded: raises UserError if one of them should have mutants and has not."""
    if _finder is not None:
        _finder.demand_right_modules()


def choose(number: int) -> None:
    """From now on, this mutant runs; 0: none, -1: those that calls reach are noted."""
    STATE.chosen = number
    if _kernels is not None and number > 0:
        for function in _kernels.all:
            _kernels.choose_for(function)


def take_reached() -> list[int]:
    """The mutants that were reached since the last call."""
    reached = sorted(STATE.reached)
    STATE.reached.clear()
    return reached
