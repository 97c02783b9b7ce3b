"""The command line of the stages; ci/card calls it."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from . import report
from .machine import Machine
from .stages import STAGES, stage_named


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="ci/card", description="Runs the stages and writes a report.")
    parser.add_argument("--build", type=Path, required=True, help="folder with bin/, lib/ and python/")
    parser.add_argument("--output", type=Path, required=True, help="folder for the report and all results")
    parser.add_argument(
        "--stage", action="append", default=[], help="only this stage; may be given several times"
    )
    parser.add_argument("--seconds", type=float, default=600, help="for all stages together; by default 600")
    parser.add_argument("--dry", action="store_true", help="the simulator takes the place of the card")
    parser.add_argument(
        "--plant", default="", metavar="OLD=NEW", help="with --dry: a difference in the stand-in's PTX"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="compare only instructions that contain this"
    )
    options = parser.parse_args(arguments)
    if options.plant and not options.dry:
        parser.error("--plant needs --dry")
    return options


def main(arguments: list[str]) -> int:
    """0 if all stages ended, 1 if one did not or a comparison differs, 2 for wrong usage."""
    options = parse(arguments)
    try:
        stages = [stage_named(name) for name in options.stage] or list(STAGES)
    except KeyError as error:
        print(f"ci/card: {error.args[0]}", file=sys.stderr)
        return 2
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    machine = Machine(Path.cwd(), options.build.resolve(), output, options.dry, options.plant, options.only)
    described = machine.description() | {
        "torch": importlib.metadata.version("torch"),
        "Python": platform.python_version(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    results: dict[str, report.Line] = {}
    begin = time.monotonic()
    for stage in stages:
        left = options.seconds - (time.monotonic() - begin)
        limit = min(stage.dry_seconds if options.dry else stage.seconds, left)
        if limit < 5:
            results[stage.name] = {"left_out": "no time was left"}
            continue
        print(f"[card] {stage.name}: at most {limit:.0f} s", flush=True)
        started = time.monotonic()
        try:
            results[stage.name] = stage.run(machine, limit)
        except OSError as error:
            results[stage.name] = {"error": str(error)}
        print(f"[card] {stage.name}: {time.monotonic() - started:.0f} s", flush=True)
        report.write(output, described, results)
    print(f"[card] the report is {report.write(output, described, results)}", flush=True)
    compared = report.read_lines(output / "comparison.jsonl") if "comparison" in results else []
    unfinished = [name for name, result in results.items() if "error" in result or result.get("errors")]
    return 1 if unfinished or any(report.differs(line) for line in compared) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
