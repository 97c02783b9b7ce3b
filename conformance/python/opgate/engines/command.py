"""`opgate engine`: lists the engines for versions of torch, and compiles one for the torch that is here."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time

from opgate.engines.building import BuildError, build_engine
from opgate.engines.choice import NoEngineError, built_engines, cache_folder, engine_for, supported_torch
from opgate.engines.torch_here import torch_here


def main(words: list[str]) -> int:
    """Runs the command; returns 0, or 2 if there is no torch, no engine that fits, or a build that failed."""
    parser = argparse.ArgumentParser(prog="opgate engine", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="list the engines, and say which one fits the torch that is here")
    build = commands.add_parser(
        "build",
        help="compile the engine for the torch that is here, such as a nightly",
        description="Compiles the engine for the torch of this environment into a cache "
        "($XDG_CACHE_HOME/opgate, by default ~/.cache/opgate). Two cores take about ten minutes. It needs "
        "a compiler for C++, cmake and ninja (pip install cmake ninja), and nvcc for the simulated CUDA "
        "device. A build that was interrupted goes on where it ended.",
    )
    build.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")
    options = parser.parse_args(words)
    return _list() if options.command == "list" else _build(options.jobs)


def _list() -> int:
    torch = torch_here()
    print(f"torch here: {torch.version if torch else 'none'}, of {sys.executable}")
    for release, folder in built_engines().items():
        print(f"torch {release:<12} in the wheel, {folder}")
    for folder in sorted(cache_folder().glob("torch-*")):
        print(f"{folder.name.replace('-', ' ', 1):<18} compiled here, {folder}")
    try:
        print(f"used here: {engine_for(supported_torch())}")
    except NoEngineError as error:
        print(f"used here: none: {error}")
        return 2
    return 0


def _build(jobs: int) -> int:
    try:
        torch = supported_torch()
        with contextlib.suppress(NoEngineError):
            print(f"opgate engine: {engine_for(torch)} fits torch {torch.version} already", file=sys.stderr)
            return 0
        began = time.monotonic()
        print(f"opgate: compiling the engine for torch {torch.version}, {jobs} at a time", file=sys.stderr)
        engine = build_engine(torch, jobs)
    except (NoEngineError, BuildError) as error:
        print(f"opgate engine: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nopgate engine: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    print(f"opgate: built in {time.monotonic() - began:.0f} s: {engine}", file=sys.stderr)
    return 0
