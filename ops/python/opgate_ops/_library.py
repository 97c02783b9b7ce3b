"""Finds the operator library and loads it, once in a process."""

import functools
import os
from pathlib import Path

import torch

LIBRARY_VARIABLE = "OPGATE_OPS_LIB"
_LIBRARY_NAME = "libopgate_ops.so"


def library_path() -> Path:
    """Path of the operator library: the one that ``OPGATE_OPS_LIB`` names, otherwise the one in this package.

    The file need not exist; `load` raises an error if it does not.
    """
    override = os.environ.get(LIBRARY_VARIABLE)
    if override:
        return Path(override)
    # __file__ is not resolved, because in a build tree the sources are links, and the library lies beside the
    # links.
    return Path(__file__).parent / "lib" / _LIBRARY_NAME


@functools.cache
def load() -> None:
    """Load the library, which registers its operators and classes. Later calls do nothing.

    Raises ImportError if the file does not exist, or if the loader refuses it (for example because it was
    built against another torch).
    """
    path = library_path()
    if not path.is_file():
        raise ImportError(_missing(path), name="opgate_ops", path=str(path))
    try:
        torch.ops.load_library(str(path))
    except OSError as error:
        # torch's message names only the file; the loader's message is in the cause.
        reason = " ".join(str(error.__cause__ or error).split())
        raise ImportError(
            f"opgate_ops: {path} does not load with torch {torch.__version__}: {reason}",
            name="opgate_ops",
            path=str(path),
        ) from error


def _missing(path: Path) -> str:
    """The message for a library that does not exist at `path`."""
    if os.environ.get(LIBRARY_VARIABLE):
        return (
            f"opgate_ops: {LIBRARY_VARIABLE} names {path}, which is not a file. "
            f"Set it to the path of {_LIBRARY_NAME}, or unset it."
        )
    return (
        f"opgate_ops: no operator library at {path}. Build it (cmake --build, target opgate_ops), "
        f"or set {LIBRARY_VARIABLE} to the path of a built {_LIBRARY_NAME}."
    )
