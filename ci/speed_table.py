"""Writes the table of speeds in docs/limits.md from the results of two runs of `opgate bench`.

python ci/speed_table.py PAGE OPERATORS FIRST.jsonl SECOND.jsonl

OPERATORS is a file with the names of all operators, one on each line: each gets a row, even
without a bench.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

BEGIN = "<!-- written by ci/bench --write: begin -->"
END = "<!-- end -->"
HEADER = (
    "operator, direction",
    "benches",
    "ratios, first run",
    "ratios, second run",
    "largest change",
    "limit",
    "verdicts of both runs",
)

Line = dict[str, Any]


def read(file: Path) -> dict[tuple[Any, ...], Line]:
    """The results of a run by bench, without those that are owed. Raises ValueError if it did not end."""
    lines = [json.loads(text) for text in file.read_text().splitlines()]
    if "finished" not in lines[-1]:
        raise ValueError(f"{file} is not complete: the run was interrupted, or still goes on")
    keys = ("op", "direction", "bench", "dtype", "threads")
    return {tuple(line[key] for key in keys): line for line in lines if line.get("verdict", "owed") != "owed"}


def span(ratios: list[float]) -> str:
    """The least and the greatest number, with three digits."""
    if not ratios:
        return ""
    low, high = (f"{ratio:.3g}" for ratio in (min(ratios), max(ratios)))
    return low if low == high else f"{low} to {high}"


def row(name: str, first: list[Line], second: list[Line]) -> tuple[str, ...]:
    """A row of the table, from the results of the same benches in two runs."""
    changes = [
        abs(one["ratio"] / two["ratio"] - 1)
        for one, two in zip(first, second, strict=True)
        if "ratio" in one and "ratio" in two
    ]
    verdicts = Counter(line["verdict"] for line in [*first, *second])
    limits = sorted({line["limit"] for line in first if "limit" in line})
    return (
        name,
        str(len(first)),
        span([line["ratio"] for line in first if "ratio" in line]),
        span([line["ratio"] for line in second if "ratio" in line]),
        f"{max(changes):.0%}" if changes else "",
        ", ".join(f"{limit:g}" for limit in limits) or "none",
        ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())),
    )


def table(
    operators: list[str], first: dict[tuple[Any, ...], Line], second: dict[tuple[Any, ...], Line]
) -> str:
    """The table in Markdown. Raises ValueError if the runs did not time the same benches."""
    if first.keys() != second.keys():
        raise ValueError(f"only one of the runs timed {sorted(first.keys() ^ second.keys())[0]}")
    groups: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for key in first:
        groups[key[0], key[1]].append(key)
    rows = [
        row(f"`{op}` {direction}", [first[key] for key in keys], [second[key] for key in keys])
        for (op, direction), keys in sorted(
            groups.items(), key=lambda group: (group[0][0], group[0][1] != "forward")
        )
    ]
    timed = {op for op, _ in groups}
    rows += [(f"`{op}`", "none", *[""] * (len(HEADER) - 2)) for op in operators if op not in timed]
    lines = [HEADER, ("---",) * len(HEADER), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def main(page: Path, operators: Path, *runs: Path) -> int:
    """Replaces what stands between the two marks of the page."""
    text = page.read_text()
    written = table(operators.read_text().split(), *map(read, runs))
    marked = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if len(marked.findall(text)) != 1:
        print(f"ci/bench: {page} must hold {BEGIN} and {END} once", file=sys.stderr)
        return 2
    page.write_text(marked.sub(lambda _: f"{BEGIN}\n{written}{END}", text))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
