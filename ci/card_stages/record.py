"""Keeps digests of what a card gave, with which the simulator agrees, for machines without one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .report import differs, read_lines


def order(line: str) -> tuple[bool, int, str]:
    """Programs come last, by their numbers."""
    text = line.partition(" ")[2]
    is_program = text.startswith("program ")
    return is_program, int(text.split()[1]) if is_program else 0, text


def main() -> int:
    """Writes the digests of a report to a file, below its comment."""
    parser = argparse.ArgumentParser(prog="python -m card_stages.record", description=main.__doc__)
    parser.add_argument("report", type=Path, help="the folder that ci/card wrote on a machine with a GPU")
    parser.add_argument("--file", type=Path, default=Path("simulator/tests/card/h200.txt"))
    options = parser.parse_args()
    lines = read_lines(options.report / "comparison.jsonl")
    kept = [f"{line['digest']} {line['text']}" for line in lines if "digest" in line and not differs(line)]
    if not kept:
        print(f"{options.report} has no comparison with a card that agrees", file=sys.stderr)
        return 1
    comment = [line for line in options.file.read_text().splitlines() if line.startswith("#")]
    options.file.write_text("\n".join([*comment, *sorted(kept, key=order)]) + "\n")
    print(
        f"{options.file}: {len(kept)} digests; {sum(map(differs, lines))} comparisons differ and are left out"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
