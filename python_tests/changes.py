"""Runs of fixtures/changes in its states, for tests of the gate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from harness import Completed, OpGate

# The checks that concern these changes and need neither compiler nor exporter.
CHECKS = [
    *("--check", "value", "effect", "fake.metadata", "run.deterministic", "memory.bounds"),
    *("grad", "error", "registration"),
]
# A run of so few cases takes longer to start a second worker than to do without it.
ONE_WORKER = ["--jobs", "1"]


@dataclass(frozen=True)
class Runs:
    """Runs of fixtures/changes in its states; each run is made once."""

    opgate: OpGate
    project: Path

    def of(self, changes: str) -> Path:
        """The output folder of a run of that state."""
        output = self.project / f"run {changes}"
        if not output.exists():
            run = ["run", *CHECKS, *ONE_WORKER, "--no-sim", "--output", output]
            result = self.opgate(*run, folder=self.project, environment={"OPGATE_CHANGES": changes})
            assert result.returncode in (0, 1), result
        return output

    def gate(self, base: str, head: str, *options: str) -> Completed:
        """The output of the gate for the change from `base` to `head`."""
        results = self.of(head) / "results.jsonl"
        words = ["gate", "--base", self.of(base), "--results", results, *options]
        # The gate calls the head with samples of the base, for which it loads the library again.
        return self.opgate(*words, folder=self.project, environment={"OPGATE_CHANGES": head})

    def remarks(self, head: str) -> list[dict[str, str]]:
        """The content of gate.json for the last gate of that state."""
        return json.loads((self.of(head) / "gate.json").read_text())["remarks"]

    def refused(self, head: str) -> set[str]:
        """The rules that refused that state in its last gate."""
        return {remark["rule"] for remark in self.remarks(head) if remark["kind"] == "refused"}
