"""One run of `opgate judge`, which has the options and their explanations."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgate.judge.receipt import described, receipt
from opgate.judge.sandbox import candidate_process, isolation
from opgate.judge.sandbox.session import Session
from opgate.judge.sandbox.spawner import Limits, Spawner
from opgate.judge.speed.opponents import Opponents
from opgate.judge.speed.timed_candidate import time_candidate
from opgate.judge.subject.called_operators import operators_of
from opgate.judge.subject.operators import OperatorSources
from opgate.judge.subject.source_file import SourceFile
from opgate.judge.truth.truth_process import TruthProcess
from opgate.judge.verdict.conclusions import conclude
from opgate.judge.verdict.finding import Verdict
from opgate.judge.verdict.judge import Judge
from opgate.judge.verdict.report_text import report
from opgate.request import UserError

STATUS = {"correct": 0, "unclear": 3, "wrong": 1, "cheating": 1}
NAMES = {"cpu": "cpu", "cuda": "sim"}
"""What a person calls the devices."""
INTERRUPTED = 130
SECONDS_OF_COMPUTING = 3600


@dataclass(frozen=True)
class Request:
    """What `opgate judge` asks; an option that is not given is empty."""

    server: str  # which judges instead of this process
    candidates: list[str]
    reference: str
    device: str
    time_limit: float
    memory_limit: float
    as_json: bool
    no_speed: bool
    no_compile: bool
    inputs: str
    libraries: list[str]
    specs: list[str]
    modules: list[str]
    python_path: list[str]
    receipt: str


def judge_one(
    source: SourceFile,
    truth: TruthProcess,
    spawner: Spawner,
    opponents: Opponents,
    options: Request,
) -> tuple[Verdict, dict[str, Any]]:
    """The verdict on one candidate, from secrets of its own, and the record for a receipt."""
    examination = truth.examination()
    verdict = Verdict(str(source))
    session = Session(spawner, source, options.device)
    try:
        verdict.isolated = session.isolated
        verdict.not_isolated = [each for each in isolation.EVERY_MEASURE if each not in session.isolated]
        judge = Judge(examination, session, verdict, options.time_limit)
        judge.run()
        conclude(judge, source, options.device)
        if verdict.word != "correct":
            verdict.speed = {"problem": "it is not correct"}
        elif options.device != "cpu":
            verdict.speed = {"problem": "nothing is timed on the simulated device"}
        elif options.no_speed:
            verdict.speed = {"problem": "--no-speed"}
        else:
            time_candidate(judge, truth, opponents)
    finally:
        session.end()
    return verdict, {
        "name": verdict.candidate,
        "files": described(source.files()),
        "secret": truth.secret,
        "order": judge.seed,
        "calls": judge.record,
        "verdict": verdict.as_json(),
    }


def prepare() -> None:
    """Imports what the first use of a mode of torch needs, which takes long."""
    operators_of(lambda: torch.empty(1).neg())


def run(options: Request, device: str = "") -> int:
    """Judges each candidate; returns the exit status of the worst verdict. Raises UserError.

    `device` is that of the server which this process is a fork of.
    """
    if device and options.device != device:
        raise UserError(
            f"this server runs candidates on {NAMES[device]}: leave out --device, or start another with "
            f"--device {NAMES[options.device]}"
        )
    sys.path[:0] = options.python_path  # for modules, in all processes
    operators = OperatorSources(tuple(options.libraries), tuple(options.specs), tuple(options.modules))
    reference = SourceFile.of(options.reference, "Model", operators, options.inputs)
    candidates = [SourceFile.of(each, "ModelNew") for each in options.candidates]
    memory = int(options.memory_limit * isolation.GIB) if options.device == "cpu" else None
    limits = Limits(memory, SECONDS_OF_COMPUTING)
    spawner = Spawner(candidate_process.run, limits)  # before there is any secret
    names = [] if options.no_speed or options.device != "cpu" else ["reference", "compiled"]
    if options.no_compile and names:
        names.remove("compiled")
    spawners = {name: Spawner(candidate_process.run, limits) for name in names}
    opponents = Opponents(reference, spawners, options.time_limit)
    truth = TruthProcess(reference)
    isolation.hide_memory()
    words_so_far: set[str] = set()
    records: list[dict[str, Any]] = []
    try:
        for source in candidates:
            verdict, record = judge_one(source, truth, spawner, opponents, options)
            records.append(record)
            words_so_far.add(verdict.word)
            print(json.dumps(verdict.as_json()) if options.as_json else report(verdict), flush=True)
    except KeyboardInterrupt:
        print("opgate: interrupted; there is no verdict on the remaining candidates", file=sys.stderr)
        return INTERRUPTED
    finally:
        truth.close()
        spawner.close()
        opponents.end()
    if options.receipt:
        of_reference = {"name": str(reference), "files": described(reference.files())}
        written = receipt(of_reference, records, NAMES[options.device])
        Path(options.receipt).write_text(json.dumps(written, indent=1) + "\n")
    return next(STATUS[word] for word in ("cheating", "wrong", "unclear", "correct") if word in words_so_far)
