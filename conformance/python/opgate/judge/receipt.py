"""Receipts: what was judged, with which secrets, and with which verdict.

`opgate judge` signs them and verifies signatures. `python -m opgate.judge.receipt FILE` shows one, and
imports nothing that takes long.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FORMAT = "opgate judge receipt 1"


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def described(paths: Iterable[Path]) -> list[dict[str, str]]:
    """The files with their digests."""
    return [{"file": str(path), "sha256": digest_of(path)} for path in paths]


def receipt(reference: dict[str, Any], records: list[dict[str, Any]], device: str) -> dict[str, Any]:
    """The receipt of a run."""
    import torch

    from opgate import _engine

    return {
        "format": FORMAT,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {
            "opgate": _engine.version,
            "torch": torch.__version__,
            "python": sys.version.partition(" ")[0],
        },
        "device": device,
        "reference": reference,
        "candidates": records,
    }


def show(path: Path) -> int:
    """Prints what a receipt says; returns 1 if a file that it names has changed or is missing."""
    kept = json.loads(path.read_text())
    if kept.get("format") != FORMAT:
        print(f"opgate: {path} is no receipt of opgate judge", file=sys.stderr)
        return 1
    versions = ", ".join(f"{name} {version}" for name, version in kept["versions"].items())
    print(f"judged     {kept['date']} on {kept['device']} with {versions}")
    print(f"reference  {kept['reference']['name']}")
    files = list(kept["reference"]["files"])
    for record in kept["candidates"]:
        print(f"{record['verdict']['verdict']:10} {record['name']}")
        files += record["files"]
    status = 0
    for each in files:
        file = Path(each["file"])
        if not file.is_file():
            print(f"missing    {file}")
        elif digest_of(file) != each["sha256"]:
            print(f"changed    {file}")
        else:
            continue
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(show(Path(sys.argv[1])))
