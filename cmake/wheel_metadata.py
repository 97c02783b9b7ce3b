"""Version and dependencies of the wheel, for scikit-build-core: the engine fits one version of torch only.

The wheel has that version in its name, opgate-0.1.0+torch2.15.0-..., and requires it.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

CMAKE = Path(__file__).resolve().parent.parent / "CMakeLists.txt"


def torch_version() -> str:
    """The version of torch in the building environment. Raises RuntimeError if it has none."""
    try:
        return metadata.version("torch").partition("+")[0]
    except metadata.PackageNotFoundError:
        raise RuntimeError(
            "this environment has no torch: install the one that your operators are built with, then run "
            "`pip install --no-build-isolation .` again"
        ) from None


def dynamic_metadata(field: str, settings: dict[str, object] | None = None) -> str | list[str]:
    """The value of `field` of pyproject.toml, "version" or "dependencies".

    Raises RuntimeError if torch or the project's version is not found, and ValueError for other fields.
    """
    if field == "version":
        found = re.search(r"^project\(OpGate VERSION ([\d.]+)", CMAKE.read_text(), re.MULTILINE)
        if found is None:
            raise RuntimeError(f"{CMAKE} has no line that begins with project(OpGate VERSION ...")
        return f"{found[1]}+torch{torch_version()}"
    if field == "dependencies":
        return ["numpy", "tomlkit", f"torch=={torch_version()}"]
    raise ValueError(f"cmake/wheel_metadata.py gives version and dependencies, and not {field}")
