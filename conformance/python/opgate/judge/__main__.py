"""`python -m opgate.judge`: started by `opgate judge`, which has the options and their explanations."""

from __future__ import annotations

import argparse
import json
import sys

import torch

from opgate.judge import candidate_process, isolation
from opgate.judge.called_operators import operators_of
from opgate.judge.conclusions import conclude
from opgate.judge.finding import Verdict
from opgate.judge.judge import Judge
from opgate.judge.nursery import Limits, Nursery
from opgate.judge.report_text import report
from opgate.judge.session import Session
from opgate.judge.source_file import SetupError, SourceFile
from opgate.judge.truth_process import TruthProcess

STATUS = {"correct": 0, "unclear": 3, "wrong": 1, "cheating": 1}
INTERRUPTED = 130
SECONDS_OF_COMPUTING = 3600


def arguments_of(words: list[str]) -> argparse.Namespace:
    """The command line, as `opgate judge` passes it on."""
    parser = argparse.ArgumentParser(prog="opgate judge")
    parser.add_argument("candidates", nargs="+")
    parser.add_argument("--reference", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--memory-limit", type=float, default=16)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(words)


def judge_one(
    source: SourceFile, truth: TruthProcess, nursery: Nursery, options: argparse.Namespace
) -> Verdict:
    """The verdict on one candidate, from secrets of its own."""
    examination = truth.examination()
    verdict = Verdict(f"{source.path}:{source.name}")
    session = Session(nursery, source, options.device)
    try:
        verdict.isolated = session.isolated
        verdict.not_isolated = [each for each in isolation.EVERY_MEASURE if each not in session.isolated]
        judge = Judge(examination, session, verdict, options.time_limit)
        judge.run()
        conclude(judge, source.path, options.device)
    finally:
        session.end()
    return verdict


def main(words: list[str]) -> int:
    """Judges each candidate; returns the exit status of the worst verdict."""
    options = arguments_of(words)
    try:
        reference = SourceFile.of(options.reference, "Model")
        candidates = [SourceFile.of(each, "ModelNew") for each in options.candidates]
    except SetupError as error:
        print(f"opgate: {error}", file=sys.stderr)
        return 2
    memory = int(options.memory_limit * isolation.GIB) if options.device == "cpu" else None
    limits = Limits(memory, SECONDS_OF_COMPUTING)
    operators_of(lambda: torch.empty(1).neg())  # imports what the first use of a mode needs, which takes long
    nursery = Nursery(candidate_process.run, limits)  # before there is any secret
    truth = TruthProcess(reference)
    isolation.hide_memory()
    words_so_far: set[str] = set()
    try:
        for source in candidates:
            verdict = judge_one(source, truth, nursery, options)
            words_so_far.add(verdict.word)
            print(json.dumps(verdict.as_json()) if options.json else report(verdict), flush=True)
    except SetupError as error:
        print(f"opgate: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("opgate: interrupted; there is no verdict on the remaining candidates", file=sys.stderr)
        return INTERRUPTED
    finally:
        truth.close()
        nursery.close()
    return next(STATUS[word] for word in ("cheating", "wrong", "unclear", "correct") if word in words_so_far)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
