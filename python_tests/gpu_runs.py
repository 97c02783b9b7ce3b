"""Runs as a machine with a GPU would have made them, for tests of evidence on machines without one."""

from __future__ import annotations

import json
from pathlib import Path

from harness import OpGate, read_results


def as_on_gpu(project: Path, *, failing: str = "") -> Path:
    """Changes the run as if it was on a machine with a GPU: owed cases passed, except those of one check."""
    lines = [json.loads(line) for line in (project / ".opgate" / "results.jsonl").read_text().splitlines()]
    lines[0] |= {"devices": {"cuda": "NVIDIA H200"}, "started": "2026-11-20T01:02:03Z"}
    for line in lines:
        if line.get("verdict") != "owed":
            continue
        del line["reason"]
        line["verdict"] = "pass"
        if failing and line["case"].endswith(failing):
            line |= {"verdict": "crash", "reason": "SIGSEGV"}
    file = project / "from the gpu.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def keep(opgate: OpGate, project: Path, results: Path) -> str:
    """Keeps the results as evidence, and returns what the program says."""
    result = opgate("evidence", "--results", results, folder=project)
    assert result.returncode == 0, result
    return result.stdout


def of_cuda(project: Path) -> list[dict[str, str]]:
    """The verdicts of the last run on CUDA cases; there is at least one."""
    cases = read_results(project / ".opgate").cases
    lines = [line for case, line in cases.items() if "/cuda/" in case]
    assert lines
    return lines
