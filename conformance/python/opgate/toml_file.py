"""Changes a TOML file of the project, and leaves everything else of it as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import tomlkit

from opgate.request import UserError


def change_toml(file: Path, change: Callable[[tomlkit.TOMLDocument], None]) -> None:
    """Writes the changed file, whole or not at all; a new one if there is none. Raises UserError."""
    try:
        document = tomlkit.parse(file.read_text()) if file.exists() else tomlkit.document()
        change(document)
        written = file.with_name(f"{file.name}.new")
        written.write_text(tomlkit.dumps(document))
        written.replace(file)
    except tomlkit.exceptions.ParseError as error:
        raise UserError(f"{file}: {error}") from error
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}") from error
