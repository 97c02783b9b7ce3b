"""The whole output of each command, compared with one approved file each in python_tests/approved.

If the output changes on purpose, `pytest python_tests/cli/test_output.py --approve` writes the files again.
Review the difference, and commit it. Other tests look at results.jsonl, gate.json and exit statuses,
and at no more words than tell one outcome from another.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from harness import OpGate, complaints, write_config

APPROVED = Path(__file__).resolve().parents[1] / "approved"


@dataclass
class Transcript:
    """Commands and their output, without the parts that differ from machine to machine."""

    opgate: OpGate
    folder: Path
    names: dict[str, str]
    lines: list[str] = field(default_factory=list)

    def __call__(self, *words: str, environment: dict[str, str] | None = None) -> str:
        """Runs `opgate WORDS` in the folder; returns what it printed."""
        result = self.opgate(*words, folder=self.folder, environment=environment)
        settings = [f"{name}={value}" for name, value in (environment or {}).items()]
        shown = [shlex.quote(self.named(word)) for word in words]
        self.lines += ["", " ".join(["$", *settings, "opgate", *shown])]
        self.lines += result.stdout.splitlines()
        self.lines += [f"stderr: {line}" for line in complaints(result)]
        if result.returncode != 0:
            self.lines.append(f"exit status {result.returncode}")
        return result.stdout

    def named(self, text: str) -> str:
        """Replaces the folders of this machine by names."""
        for path, name in self.names.items():
            text = text.replace(path, name)
        return text

    def text(self) -> str:
        """All of it."""
        text = self.named("\n".join(line.rstrip() for line in self.lines).lstrip("\n") + "\n")
        text = re.sub(r"\bin \d+\.\d s\b", "in TIME s", text)
        text = re.sub(r"\bOpGate \d+\.\d+\.\d+", "OpGate VERSION", text)
        text = re.sub(r"\b\d{4}-\d\d-\d\dT[\d:]+Z", "DATE", text)
        text = text.replace("../../fixtures/", "SOURCE/fixtures/")  # as the compiler sees it with ccache
        return text.replace(f"torch {torch.__version__.partition('+')[0]}", "torch VERSION")


@pytest.fixture
def transcript(opgate: OpGate, build: Path, source: Path, tmp_path: Path) -> Transcript:
    """An empty project; tests of one command write its opgate.toml."""
    folder = tmp_path / "a project"
    folder.mkdir()
    names = {sys.executable: "python", str(folder): "PROJECT", str(build): "BUILD", str(source): "SOURCE"}
    return Transcript(opgate, folder, names)


@pytest.fixture
def approve(request: pytest.FixtureRequest) -> Callable[[str, Transcript], None]:
    """approve(COMMAND, transcript) compares it with the approved file, or writes that with --approve."""

    def compare(command: str, transcript: Transcript) -> None:
        file = APPROVED / f"{command}.txt"
        text = transcript.text()
        if request.config.getoption("--approve"):
            APPROVED.mkdir(exist_ok=True)
            file.write_text(text)
            return
        approved = file.read_text() if file.exists() else ""
        difference = difflib.unified_diff(
            approved.splitlines(), text.splitlines(), f"approved/{file.name}", "now", lineterm=""
        )
        assert text == approved, "\n".join(["opgate prints something else:", *difference])

    return compare


DEFECTS = {"libraries": ["libopgate_defects.so"], "specs": ["libopgate_defects.so"]}
IDENTITY = {"libraries": ["libopgate_ops.so"], "specs": ["libopgate_identity_specs.so"]}
CHANGES = {"libraries": ["libopgate_changes.so"], "waivers": "waivers.toml", "ledger": "ledger"}
# The checks that concern the changes and need neither compiler nor exporter.
CHEAP = [
    "--check",
    "value",
    "effect",
    "fake.metadata",
    "run.deterministic",
    "memory.bounds",
    "--device",
    "cpu",
]

# One worker only, because several finish their cases in another order each time.
ONE_WORKER = ["--jobs", "1"]

Approve = Callable[[str, Transcript], None]


def test_run(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **DEFECTS)
    told = [
        "stride_blind",
        "gap_writer",
        "undeclared_dtype",
        "other_fake_strides",
        "returns_input",
        "dense_copy",
    ]
    checks = ["value.layout", "value.dtype", "effect.mutation", "effect.alias", "fake.metadata"]
    transcript("run", *ONE_WORKER, "--device", "cpu", "--op", *told, "--check", *checks)
    transcript(
        "run",
        *ONE_WORKER,
        "--device",
        "cpu",
        "--op",
        "dense_copy",
        "--check",
        "value.layout",
        "--output",
        "other",
    )
    write_config(transcript.folder, **IDENTITY)
    transcript("run", *ONE_WORKER, "--op", "no_such_operator")
    transcript("run", *ONE_WORKER, "--check", "no.such")
    transcript("run", *ONE_WORKER, "--device", "tpu")
    transcript("run", "--jobs", "many")
    write_config(transcript.folder, libraries=["libgone.so"])
    transcript("run")
    (transcript.folder / "opgate.toml").write_text("this is not TOML\n")
    transcript("run")
    approve("run", transcript)


def test_run_of_operators_that_crash(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, libraries=["libopgate_crashy.so"], specs=["libopgate_crashy_specs.so"])
    transcript("run", *ONE_WORKER, "--device", "cpu", "--check", "value.layout", "value.reference")
    approve("run-crashes", transcript)


def test_list(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **IDENTITY)
    transcript("list", "ops")
    transcript("list", "checks")
    transcript("list", "cases", "--check", "value.dtype", "--device", "cpu")
    transcript("list", "tests", "--check", "value", "--no-sim")
    transcript("list", "nothing")
    approve("list", transcript)


def test_explain(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **IDENTITY)
    transcript("explain", "value.layout")
    transcript("explain", "schema.compatible")
    transcript("explain", "value.layuot")
    approve("explain", transcript)


@pytest.mark.long
def test_repro(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **DEFECTS)
    case = "stride_blind/float32/2x3x5x6/x=channels-last/cpu/value.layout"
    transcript("repro", case)
    transcript("repro", case, "--python")
    transcript("repro", case.replace("stride_blind", "dense_copy"))
    transcript("repro", case.replace("2x3x5x6", "9x9"))
    approve("repro", transcript)


def test_merge(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, libraries=["libopgate_wrong.so"], specs=["libopgate_wrong_specs.so"])
    shards = [f"{number}/results.jsonl" for number in (1, 2)]
    for number in ("1", "2"):
        transcript(
            "run", *ONE_WORKER, "--check", "value.reference", "--shard", f"{number}/2", "--output", number
        )
    transcript("merge", *shards, "--output", "merged")
    transcript("merge", shards[0], "--output", "merged")
    transcript("merge", shards[0], *shards, "--output", "merged")
    approve("merge", transcript)


@pytest.mark.long
def test_gate(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **CHANGES)
    (transcript.folder / "waivers.toml").touch()
    states = ["no_overload", "cpu_only", "composite", "float_only", "fewer_samples", "renamed", "reordered"]
    states += ["retyped", "other_default", "demanding", "columns", "inaccurate", "other_bits"]
    states += ["not_deterministic", "wide", "refactored", "longer"]
    for state in ["", *states]:
        words = ["run", *ONE_WORKER, *CHEAP, "--output", state or "first"]
        transcript.opgate(*words, folder=transcript.folder, environment={"OPGATE_CHANGES": state})
    for state in states:
        transcript("gate", "--base", "first", "--results", f"{state}/results.jsonl")
    for state in ("wide", "not_deterministic"):
        transcript("gate", "--base", state, "--results", "first/results.jsonl")
    (transcript.folder / "waivers.toml").write_text("[[waiver]]\ncheck = 'value.layout'\nop = 'scale'\n")
    transcript("gate", "--base", "first", "--results", "wide/results.jsonl")
    transcript("gate", "--results", "first/results.jsonl")
    approve("gate", transcript)


def test_accept(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **CHANGES)
    (transcript.folder / "waivers.toml").touch()
    transcript.opgate("run", *ONE_WORKER, *CHEAP, folder=transcript.folder)
    transcript("accept")
    file = transcript.folder / ".opgate" / "results.jsonl"
    lines = file.read_text().splitlines()
    header = json.loads(lines[0])
    header["filter"] |= {"checks": [], "devices": []}
    file.write_text("\n".join([json.dumps(header), *lines[1:], ""]))
    transcript("accept")
    transcript("accept")
    transcript("gate", "--results", ".opgate/results.jsonl")
    approve("accept", transcript)


@pytest.mark.long
def test_record_and_init(transcript: Transcript, approve: Approve, seen_library: Path) -> None:
    shutil.copy(seen_library, transcript.folder / "libseen.so")
    program = (
        "import torch; torch.ops.load_library('./libseen.so'); torch.ops.seen.blind(torch.ones(4, 6), 2.0)"
    )
    (transcript.folder / "program.py").write_text(program)
    transcript("record", "--", sys.executable, "program.py")
    transcript("record", "--", sys.executable, "-c", "pass")
    transcript("run", *ONE_WORKER, "--check", "value.layout", "--device", "cpu")
    transcript("init", "seen", "--into", "specs")
    for file in sorted(path for path in (transcript.folder / "specs").rglob("*") if path.is_file()):
        transcript.lines += ["", f"{file.relative_to(transcript.folder)}:", *file.read_text().splitlines()]
    approve("record", transcript)


def test_report(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **DEFECTS)
    transcript.opgate(
        *(
            "run",
            *ONE_WORKER,
            "--device",
            "cpu",
            "--op",
            "stride_blind",
            "dense_copy",
            "--check",
            "value.layout",
        ),
        folder=transcript.folder,
    )
    transcript("report", ".opgate/results.jsonl", "--annotations", "--markdown", "comment.md")
    transcript.lines += ["", "comment.md:", *(transcript.folder / "comment.md").read_text().splitlines()]
    approve("report", transcript)


def test_selftest(transcript: Transcript, approve: Approve) -> None:
    write_config(transcript.folder, **DEFECTS)
    few = ["--no-opcheck", "--device", "cpu", "--op", "stride_blind", "dense_copy", "gap_writer"]
    transcript("selftest", *ONE_WORKER, *few)
    transcript("selftest", *ONE_WORKER, *few, "--blind", "effect.mutation")
    approve("selftest", transcript)
