"""A copy of a project's files, in which the instrumented sources are built."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from opgate.request import UserError

# Where there is no git: folders that hold what a build or an environment makes.
NO_SOURCES = {"build", "__pycache__"}


def project_files(root: Path) -> list[Path]:
    """The files of the project, relative to `root`: in a git repository, those that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.decode().split("\0") if name]
        return sorted(Path(name) for name in names if (root / name).is_file())
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NO_SOURCES and not name.startswith("."))
        found += [(Path(folder) / name).relative_to(root) for name in files]
    return sorted(found)


def copy_tree(root: Path, copy: Path, without: Iterable[Path]) -> None:
    """Makes the copy like the project; files in `without` are written by the caller.

    A file that is the same already keeps its time, so that a build in the copy repeats nothing. A file that
    the project no longer has is removed, and what a build has made there stays.
    """
    left_alone = set(without)
    # The copy may lie in the project.
    files = [file for file in project_files(root) if copy not in (root / file).parents]
    try:
        for file in files:
            if file not in left_alone:
                write_if_changed(copy / file, (root / file).read_bytes())
                shutil.copymode(root / file, copy / file)
        list_of_files = copy / ".opgate-mutation-files"
        before = list_of_files.read_text().splitlines() if list_of_files.exists() else []
        for name in set(before) - {str(file) for file in files}:
            (copy / name).unlink(missing_ok=True)
        list_of_files.write_text("".join(f"{file}\n" for file in files))
    except OSError as error:
        raise UserError(f"the project cannot be copied into {copy}: {error}") from error


def write_if_changed(file: Path, content: bytes) -> None:
    """Writes the file, unless it has this content."""
    if file.is_file() and not file.is_symlink() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
