"""The table of speeds in docs/limits.md: ci/bench --write makes it of two runs; no operator is left out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import OpGate

BEGIN, END = "<!-- written by ci/bench --write: begin -->", "<!-- end -->"


def result(op: str, ratio: float, **more: Any) -> dict[str, Any]:
    """A line of bench.jsonl."""
    common = {"op": op, "direction": "forward", "bench": "8x8", "dtype": "float32", "threads": 1}
    return common | {"verdict": "met", "ratio": ratio, "limit": 0.9} | more


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page with the two marks."""
    file = tmp_path / "limits.md"
    file.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    return file


def write(
    source: Path, page: Path, *runs: list[dict[str, Any]], end: bool = True
) -> subprocess.CompletedProcess:
    """Calls the script with the results of these runs."""
    operators = page.with_name("operators.txt")
    operators.write_text("add\ncrop\nmul\n")
    files = []
    for number, run in enumerate(runs):
        lines = [{"cases": len(run)}, *run, *([{"finished": "now"}] if end else [])]
        files.append(page.with_name(f"{number}.jsonl"))
        files[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [sys.executable, source / "ci" / "speed_table.py", page, operators, *files]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_table_has_both_runs_and_every_operator(source: Path, page: Path) -> None:
    first = [result("mul", 1.0), result("mul", 1.5, threads=2), result("add", 2.0, verdict="measured")]
    second = [result("mul", 1.1), result("mul", 1.5, threads=2, verdict="missed"), result("add", 2.0)]
    del first[2]["limit"]
    owed = {"op": "mul", "direction": "forward", "bench": "8x8", "dtype": "float32", "threads": None}
    run = write(source, page, [*first, owed | {"verdict": "owed"}], second)
    assert run.returncode == 0, run.stderr
    before, *rows, after = page.read_text().splitlines()
    assert (before, after, rows[0], rows[-1]) == ("before", "after", BEGIN, END)
    assert rows[3:-1] == [
        "| `add` forward | 1 | 2 | 2 | 0% | none | 1 measured, 1 met |",
        "| `mul` forward | 2 | 1 to 1.5 | 1.1 to 1.5 | 9% | 0.9 | 3 met, 1 missed |",
        "| `crop` | none |  |  |  |  |  |",
    ]


@pytest.mark.parametrize(
    ("second", "end", "told"),
    [
        ([result("add", 1.0)], True, "only one of the runs timed"),
        ([result("mul", 1.0)], False, "is not complete"),
    ],
)
def test_runs_that_cannot_be_compared_change_nothing(
    source: Path, page: Path, second: list[dict[str, Any]], end: bool, told: str
) -> None:
    run = write(source, page, [result("mul", 1.0)], second, end=end)
    assert run.returncode != 0
    assert told in run.stderr
    assert "old" in page.read_text()


def test_the_page_has_every_operator(source: Path, opgate: OpGate) -> None:
    listed = opgate("list", "ops", "--device", "cpu", folder=source).stdout.splitlines()
    operators = {line.split()[0] for line in listed if "::" in line.split()[-1]}
    text = (source / "docs" / "limits.md").read_text()
    table = text[text.index(BEGIN) : text.index(END)]
    assert len(operators) > 10
    assert {name for name in operators if f"| `{name}`" not in table} == set()
