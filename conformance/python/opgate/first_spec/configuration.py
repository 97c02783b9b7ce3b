"""Names a package of specs in opgate.toml."""

from __future__ import annotations

import os
from pathlib import Path

import tomlkit

from opgate.toml_file import change_toml


def name_specs(config: Path, package: Path) -> None:
    """Adds the package to the list `python`, and its folder to `python_path`, if they are not there.

    Raises UserError for a file that is no TOML or cannot be written.
    """

    def add(document: tomlkit.TOMLDocument) -> None:
        for key, value in (
            ("python", package.name),
            ("python_path", os.path.relpath(package.parent, config.parent)),
        ):
            values = document.setdefault(key, tomlkit.array())
            if value not in values:
                values.append(value)

    change_toml(config, add)
