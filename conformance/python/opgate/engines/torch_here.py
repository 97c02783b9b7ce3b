"""The torch of this environment, read from its files, because `import torch` takes seconds."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

OLDEST = (2, 11)
# What an index and the project's own downloads add to a release's version.
_BUILDS_OF_A_RELEASE = re.compile(r"(\d+)\.(\d+)\.\d+(\+(cpu|cu\d+|xpu|rocm[\d.]+))?")


@dataclass(frozen=True)
class Torch:
    """An installed torch: its package folder, its version, and the commit that it was built from."""

    folder: Path
    version: str
    commit: str

    @property
    def release(self) -> str | None:
        """The minor release, such as "2.15", or None for a nightly, a candidate and a build of one's own.

        Builds of a release have the same C++ interface: those for other CUDAs, and its patch releases.
        """
        found = _BUILDS_OF_A_RELEASE.fullmatch(self.version)
        return f"{found[1]}.{found[2]}" if found else None

    @property
    def is_too_old(self) -> bool:
        """Whether no engine can be compiled for it."""
        numbers = re.match(r"(\d+)\.(\d+)", self.version)
        return numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST


def torch_here() -> Torch | None:
    """The torch that `import torch` would load, or None if there is none."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    try:
        text = (folder / "version.py").read_text()
    except OSError:
        return None
    return Torch(folder, _value(text, "__version__"), _value(text, "git_version"))


def _value(text: str, name: str) -> str:
    found = re.search(rf"^{name}\s*(?::[^=]*)?=\s*['\"]([^'\"]*)['\"]", text, re.MULTILINE)
    return found[1] if found else ""
