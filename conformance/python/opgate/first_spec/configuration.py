"""Names a package of specs in opgate.toml, and leaves everything else of the file as it is."""

from __future__ import annotations

import os
from pathlib import Path

import tomlkit


def name_specs(config: Path, package: Path) -> None:
    """Adds the package to the list `python`, and its folder to `python_path`, if they are not there."""
    document = tomlkit.parse(config.read_text())
    for key, value in (
        ("python", package.name),
        ("python_path", os.path.relpath(package.parent, config.parent)),
    ):
        values = document.setdefault(key, tomlkit.array())
        if value not in values:
            values.append(value)
    written = config.with_name(f"{config.name}.new")
    written.write_text(tomlkit.dumps(document))
    written.replace(config)
