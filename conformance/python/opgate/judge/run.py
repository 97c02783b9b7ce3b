"""One run of `opgate judge`, which has the options and their explanations."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgate.calls import torch_tests
from opgate.judge.receipt import described, receipt
from opgate.judge.sandbox import candidate_process, isolation
from opgate.judge.sandbox.session import Session
from opgate.judge.sandbox.spawner import Limits, Spawner
from opgate.judge.speed.opponents import Opponents
from opgate.judge.speed.timed_candidate import time_candidate
from opgate.judge.subject.backendbench import kernel_folders
from opgate.judge.subject.called_operators import operators_of
from opgate.judge.subject.operators import OperatorSources
from opgate.judge.subject.overload import is_random, returns_arguments
from opgate.judge.subject.source_file import SourceFile
from opgate.judge.truth.truth_process import TruthProcess
from opgate.judge.verdict.conclusions import conclude
from opgate.judge.verdict.finding import Verdict
from opgate.judge.verdict.judge import Judge
from opgate.judge.verdict.report_text import report, row, summary
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
    backendbench: str  # a folder of kernels
    calls: str  # a file with calls of torch's operators


@dataclass(frozen=True)
class Task:
    """Candidates with one reference."""

    reference: SourceFile
    candidates: list[SourceFile]


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
        in_place = bool(source.overload) and returns_arguments(source.overload)
        judge = Judge(examination, session, verdict, options.time_limit, in_place)
        judge.run()
        conclude(judge, source, options.device)
        if verdict.word != "correct":
            verdict.speed = {"problem": "it is not correct"}
        elif options.device != "cpu":
            verdict.speed = {"problem": "nothing is timed on the simulated device"}
        elif options.backendbench:
            verdict.speed = {"problem": "with --backendbench nothing is timed"}
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


def tasks(options: Request) -> list[Task]:
    """What is to be judged. Raises UserError."""
    if options.backendbench:
        calls = Path(options.calls) if options.calls else None
        return [
            Task(folder.reference, folder.candidates)
            for folder in kernel_folders(Path(options.backendbench), calls)
        ]
    operators = OperatorSources(tuple(options.libraries), tuple(options.specs), tuple(options.modules))
    reference = SourceFile.of(options.reference, "Model", operators, options.inputs)
    return [Task(reference, [SourceFile.of(each, "ModelNew") for each in options.candidates])]


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
    waiting = tasks(options)
    memory = int(options.memory_limit * isolation.GIB) if options.device == "cpu" else None
    limits = Limits(memory, SECONDS_OF_COMPUTING)
    spawner = Spawner(candidate_process.run, limits)  # before there is any secret
    is_timed = options.device == "cpu" and not options.no_speed and not options.backendbench
    names = ["reference", "compiled"][: 2 - options.no_compile] if is_timed else []
    spawners = {name: Spawner(candidate_process.run, limits) for name in names}
    opponents = Opponents(waiting[0].reference, spawners, options.time_limit)
    verdicts: list[Verdict] = []
    records: list[dict[str, Any]] = []
    try:
        if options.backendbench:
            torch.set_num_threads(1)  # a fork of a process that has used others would wait for them
            look_up([task.reference.overload for task in waiting])
        for task in waiting:
            for verdict, record in judge_task(task, spawner, opponents, options):
                verdicts.append(verdict)
                records.append(record)
                print(shown(verdict, task.reference, options), flush=True)
    except KeyboardInterrupt:
        print("opgate: interrupted; there is no verdict on the remaining candidates", file=sys.stderr)
        return INTERRUPTED
    finally:
        spawner.close()
        opponents.end()
    if options.backendbench and not options.as_json:
        print(summary(verdicts))
    if options.receipt:
        reference = waiting[0].reference
        name = f"operators of torch {torch.__version__}" if options.backendbench else str(reference)
        calls = [Path(options.calls)] if options.calls else []
        of_reference = {"name": name, "files": described([*reference.files(), *calls])}
        written = receipt(of_reference, records, NAMES[options.device])
        Path(options.receipt).write_text(json.dumps(written, indent=1) + "\n")
    words = {verdict.word for verdict in verdicts}
    return next(STATUS[word] for word in ("cheating", "wrong", "unclear", "correct") if word in words)


def judge_task(
    task: Task, spawner: Spawner, opponents: Opponents, options: Request
) -> Iterator[tuple[Verdict, dict[str, Any]]]:
    """The verdict on each candidate with this reference, and the record for a receipt.

    Raises UserError if there is nothing to judge by; for one of many operators it is unclear instead.
    """
    truth = TruthProcess(task.reference)
    isolation.hide_memory()
    try:
        for source in task.candidates:
            try:
                yield judge_one(source, truth, spawner, opponents, options)
            except UserError as error:
                if not options.backendbench:
                    raise
                verdict = Verdict(str(source), unclear=[str(error)])
                yield (
                    verdict,
                    {"name": verdict.candidate, "files": described(source.files())}
                    | {"verdict": verdict.as_json()},
                )
    finally:
        truth.close()


def look_up(overloads: list[str]) -> None:
    """Finds out once for all references which of torch's tests reach their overloads."""
    warnings.simplefilter("ignore")  # of torch's tests
    found = set()
    for name in overloads:
        with contextlib.suppress(UserError):  # the process of the reference reports it
            if not is_random(name):
                found.add(name)
    for _ in torch_tests.that_reach(found):
        pass


def shown(verdict: Verdict, reference: SourceFile, options: Request) -> str:
    """The verdict as it is printed when it is known."""
    if options.as_json:
        operator = {"operator": reference.overload} if options.backendbench else {}
        return json.dumps(operator | verdict.as_json())
    return row(reference.overload, verdict) if options.backendbench else report(verdict)
