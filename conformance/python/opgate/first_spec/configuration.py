"""Names a package of specs in opgate.toml, and leaves everything else of the file as it is."""

from __future__ import annotations

import os
from pathlib import Path

import tomlkit

from opgate.request import UserError


def name_specs(config: Path, package: Path) -> None:
    """Adds the package to the list `python`, and its folder to `python_path`, if they are not there.

    Raises UserError for a file that is no TOML.
    """
    try:
        document = tomlkit.parse(config.read_text())
    except tomlkit.exceptions.ParseError as error:
        raise UserError(f"{config}: {error}") from error
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
