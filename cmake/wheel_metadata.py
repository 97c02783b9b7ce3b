"""What scikit-build-core asks for the wheel: the compiled engine fits the torch that is there, and no other.

The wheel is named after that torch, opgate-0.1.0+torch2.15.0-..., and requires it.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

CMAKE = Path(__file__).resolve().parent.parent / "CMakeLists.txt"


def torch_version() -> str:
    """That of the environment that builds. Raises RuntimeError where it has none."""
    try:
        return metadata.version("torch").partition("+")[0]
    except metadata.PackageNotFoundError:
        raise RuntimeError(
            "this environment has no torch: install the one that your operators are built with, then run "
            "`pip install --no-build-isolation .` again"
        ) from None


def dynamic_metadata(field: str, settings: dict[str, object] | None = None) -> str | list[str]:
    """The value of `field` of pyproject.toml. Raises RuntimeError, and ValueError for other fields."""
    if field == "version":
        found = re.search(r"^project\(OpGate VERSION ([\d.]+)", CMAKE.read_text(), re.MULTILINE)
        if found is None:
            raise RuntimeError(f"{CMAKE} does not say project(OpGate VERSION ...)")
        return f"{found[1]}+torch{torch_version()}"
    if field == "dependencies":
        return ["numpy", f"torch=={torch_version()}"]
    raise ValueError(f"{field} is not given here")
