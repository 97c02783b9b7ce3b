"""Finds the operator library and loads it, once a process."""

import functools
import os
from pathlib import Path

import torch

LIBRARY_VARIABLE = "OPGATE_OPS_LIB"
_LIBRARY_NAME = "libopgate_ops.so"


def library_path() -> Path:
    """Path of the operator library: what ``OPGATE_OPS_LIB`` names, else the one in this package.

    The file need not be there; `load` tells if it is not.
    """
    override = os.environ.get(LIBRARY_VARIABLE)
    if override:
        return Path(override)
    # __file__ with its links: in a build tree the sources are links, and the library lies beside
    # the links, not beside what they point to.
    return Path(__file__).parent / "lib" / _LIBRARY_NAME


@functools.cache
def load() -> None:
    """Load the library, which registers its operators and classes. Later calls do nothing.

    Raises ImportError if the file is not there, or if the loader refuses it (it was built against
    another torch, say).
    """
    path = library_path()
    if not path.is_file():
        raise ImportError(_missing(path), name="opgate_ops", path=str(path))
    try:
        torch.ops.load_library(str(path))
    except OSError as error:
        # torch says only which file; the loader's own words are the cause.
        reason = " ".join(str(error.__cause__ or error).split())
        raise ImportError(
            f"opgate_ops: {path} does not load with torch {torch.__version__}: {reason}",
            name="opgate_ops",
            path=str(path),
        ) from error


def _missing(path: Path) -> str:
    """What to say about a library that is not at `path`."""
    if os.environ.get(LIBRARY_VARIABLE):
        return (
            f"opgate_ops: {LIBRARY_VARIABLE} names {path}, which is not a file. "
            f"Set it to the path of {_LIBRARY_NAME}, or unset it."
        )
    return (
        f"opgate_ops: no operator library at {path}. Build it (cmake --build, target opgate_ops), "
        f"or set {LIBRARY_VARIABLE} to the path of a built {_LIBRARY_NAME}."
    )
