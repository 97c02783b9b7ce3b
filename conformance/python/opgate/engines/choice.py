"""The engine for the torch and the Python that are there.

An engine is a folder with the program in bin/, libraries in lib/, and the binding for one or more Pythons,
`_engine.*.so`. It fits one minor release of torch. A wheel has several in `opgate/built/`; those that `opgate
engine build` has compiled lie in a cache.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from opgate.engines.torch_here import OLDEST, Torch, torch_here

PACKAGE = Path(__file__).resolve().parent.parent
_PREFIX = "torch-"


class NoEngineError(Exception):
    """There is no engine for this environment; the message says why, and what to do."""


def supported_torch() -> Torch:
    """The torch that is here. Raises NoEngineError if there is none, or if no engine can serve it."""
    torch = torch_here()
    if torch is None:
        raise NoEngineError(f"{sys.executable} has no torch: install the one of your operators. {_known()}")
    if torch.is_too_old:
        oldest = ".".join(map(str, OLDEST))
        raise NoEngineError(f"torch {torch.version} is too old: OpGate needs {oldest} or newer. {_known()}")
    return torch


def engine_for(torch: Torch) -> Path:
    """The folder of the engine that fits torch and this Python. Raises NoEngineError if there is none."""
    in_wheel = built_engines().get(torch.release or torch.version)
    for engine in (engine_folder(torch), in_wheel):
        if engine is not None and binding_in(engine) is not None:
            return engine
    lacks = f"for torch {torch.version}"
    if in_wheel is not None:
        lacks += f" with Python {sys.version_info.major}.{sys.version_info.minor}"
    raise NoEngineError(
        f"this OpGate has no engine {lacks}. {_known()} "
        "Run `opgate engine build`, which compiles one in some minutes"
    )


def binding_in(engine: Path) -> Path | None:
    """The engine's extension module for this Python, or None."""
    for suffix in EXTENSION_SUFFIXES:
        if (engine / f"_engine{suffix}").exists():
            return engine / f"_engine{suffix}"
    return None


def built_engines() -> dict[str, Path]:
    """The engines in the package by the minor release of torch (or the version of one that is no release)."""
    folders = (PACKAGE / "built").glob(f"{_PREFIX}*")
    by_release = {folder.name.removeprefix(_PREFIX): folder for folder in folders}
    return dict(
        sorted(by_release.items(), key=lambda each: [int(part) for part in re.findall(r"\d+", each[0])])
    )


def engine_folder(torch: Torch) -> Path:
    """Where an engine lies that was compiled here for exactly this torch, this Python and this OpGate."""
    return cache_folder() / "-".join(
        [_PREFIX + torch.version, torch.commit[:8], sys.implementation.cache_tag]
    )


def cache_folder() -> Path:
    """The folder of engines that were compiled here for this version of OpGate."""
    from importlib import metadata

    places = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(places) / "opgate" / "engines" / metadata.version("opgate")


def _known() -> str:
    releases = list(built_engines())
    return f"It has engines for torch {', '.join(releases)}." if releases else "It has none for any torch."
