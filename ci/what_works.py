#!/usr/bin/env python3
"""Tries the wheel as someone who has just installed it, in an empty environment of each Python and torch.

In each environment, OpGate records the tests of a library in Python and of one in C++ (fixtures/installed),
checks what they call, and runs tests of Triton kernels on the simulated device. That works if the
planted mistake is found and its right twin is not accused. The results are written to a file of JSON and,
with all results that the file had before, as a page. Environments are made by uv, with torch from the
package index.

exit status: 0 everything works everywhere, 1 something does not, 2 wrong usage
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import jinja2

SOURCE = Path(__file__).resolve().parent.parent
LIBRARIES = SOURCE / "fixtures" / "installed"


@dataclass(frozen=True)
class Outcome:
    """How one library fared in one environment."""

    python: str
    """ "3.12"."""
    torch: str
    library: str
    """A key of TRIALS."""
    works: bool
    seconds: float
    """Of everything, with recording."""
    first_verdict: float | None
    """Seconds from the start of `opgate run` to its first verdict; None if the trial has no such run."""
    said: str
    """The end of what OpGate printed, if it does not work; otherwise empty."""


class Broken(Exception):
    """A step of a trial that ended in another way than it should; the message is what it printed."""


def variables_of_user() -> dict[str, str]:
    """The environment variables, without those by which this build or its environment is found."""
    hidden = ("PYTHONPATH", "OPGATE_PYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name not in hidden}


class Environment:
    """A virtual environment that has torch, the wheel and further packages, and no compiler of its own."""

    def __init__(self, place: Path, python: str, torch: str, wheel: Path, *further: str) -> None:
        self.programs = place / "environment" / "bin"
        self.place = place
        uv = [sys.executable, "-m", "uv"]
        self.run(*uv, "venv", "-q", "--python", python, place / "environment")
        # --compile-bytecode: otherwise the first import of torch takes half a minute.
        install = ["pip", "install", "-q", "--compile-bytecode", "--python", self.programs / "python"]
        self.run(*uv, *install, f"torch=={torch}", f"{wheel}[all]", *further)

    def run(self, *words: str | Path, status: int = 0, folder: Path | None = None) -> str:
        """What the command prints. Raises Broken if it ends with another status."""
        with self.start(*words, folder=folder) as process:
            return self.end(process, status)

    def start(
        self, *words: str | Path, folder: Path | None = None, compiler: str | None = None
    ) -> subprocess.Popen[str]:
        """Starts the command, with the environment's programs first on PATH, and maybe another compiler."""
        variables = variables_of_user()
        variables["XDG_CACHE_HOME"] = str(self.place / "cache")
        variables["PATH"] = f"{self.programs}{os.pathsep}{variables['PATH']}"
        if compiler is not None:
            variables["CXX"] = compiler
        return subprocess.Popen(
            [str(word) for word in words],
            cwd=folder or self.place,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, process: subprocess.Popen[str], status: int) -> str:
        """What it has printed. Raises Broken if it ends with another status."""
        said, _ = process.communicate()
        if process.returncode != status:
            raise Broken(f"{process.args}: exit status {process.returncode}\n{said[-3000:]}")
        return said

    def project(self, *files: str) -> Path:
        """A folder with these files of fixtures/installed, as a library of its own."""
        folder = Path(tempfile.mkdtemp(prefix="library-", dir=self.place))
        for file in files:
            shutil.copy(LIBRARIES / file, folder)
        return folder


def check_library(environment: Environment, project: Path, tests: str, compiler: str | None = None) -> float:
    """Records the tests and runs what they call. Returns the seconds to the first verdict. Raises Broken."""
    opgate, pytest = environment.programs / "opgate", environment.programs / "pytest"
    words = ["run", "--device", "cpu"]
    environment.run(opgate, "record", "--", pytest, "-q", tests, folder=project)
    started = time.monotonic()
    with environment.start(opgate, *words, folder=project, compiler=compiler) as running:
        seconds = await_first_verdict(running, project / ".opgate" / "results.jsonl") - started
        said = environment.end(running, 1)
    accused = re.findall(r"^ *\d+ (\w+) on cpu, (.*)$", said, re.MULTILINE)
    if [name for name, _ in accused] != ["blind"] or "read as if it were dense" not in accused[0][1]:
        raise Broken(f"the planted mistake, and nothing else, should be found:\n{said[-3000:]}")
    return seconds


def await_first_verdict(running: subprocess.Popen[str], results: Path) -> float:
    """The time at which the file has a line after its first one, or at which the process has ended."""
    while running.poll() is None:
        if results.exists() and results.read_text().count("\n") > 1:
            break
        time.sleep(0.05)
    return time.monotonic()


def try_python(environment: Environment) -> float:
    """A library of operators in Python, on a machine without a compiler."""
    project = environment.project("mine.py", "test_mine.py")
    return check_library(environment, project, "test_mine.py", compiler="/no compiler")


def try_native(environment: Environment) -> float:
    """A library of operators in C++, which torch's own helper compiles."""
    project = environment.project("native.cpp", "build.py", "test_native.py")
    environment.run(environment.programs / "python", "build.py", folder=project)
    return check_library(environment, project, "test_native.py")


def try_triton(environment: Environment) -> None:
    """The tests of a library of kernels in Triton, on the simulated device."""
    project = environment.project("kernels.py", "test_kernels.py")
    sim = [environment.programs / "opgate", "sim", "--seconds", "0", "--"]
    said = environment.run(*sim, environment.programs / "pytest", "-q", folder=project, status=1)
    failed = re.findall(r"^FAILED \S+\[(\w+)\]", said, re.MULTILINE)
    if failed != ["blind"] or "(`x`)" not in said or "1 failed, 1 passed" not in said:
        raise Broken(f"the missing mask of blind_kernel, and nothing else, should be found:\n{said[-3000:]}")


TRIALS: dict[str, Callable[[Environment], float | None]] = {
    "Python operators on the CPU": try_python,
    "C++ operators on the CPU": try_native,
    "Triton kernels on the simulated device": try_triton,
}


def outcomes_of(python: str, torch: str, wheel: Path, place: Path) -> list[Outcome]:
    """Tries all libraries in one environment, which is made in the folder `place`."""
    environment = Environment(place, python, torch, wheel, "pytest", "ninja")
    version = environment.run(
        environment.programs / "python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"
    ).strip()
    outcomes = []
    for library, trial in TRIALS.items():
        started = time.monotonic()
        first, said = None, ""
        try:
            first = trial(environment)
        except Broken as error:
            said = str(error)
        seconds = round(time.monotonic() - started, 1)
        rounded = None if first is None else round(first, 1)
        outcomes.append(Outcome(version, torch, library, not said, seconds, rounded, said))
        print(f"Python {version}, torch {torch}: {library}: {in_words(outcomes[-1])}", flush=True)
        print(said, end="", file=sys.stderr)
    return outcomes


def in_words(outcome: Outcome) -> str:
    """The cell of the page."""
    if not outcome.works:
        return "does not work"
    if outcome.first_verdict is None:
        return f"{outcome.seconds:.0f} s"
    return f"{outcome.first_verdict:.0f} s to the first verdict, {outcome.seconds:.0f} s"


def key_of(outcome: Outcome) -> tuple[list[int], str]:
    """The order on the page: the newest torch last, and below it the Pythons."""
    numbers = [int(number) for number in re.findall(r"\d+", f"{outcome.torch} {outcome.python}")]
    return numbers, outcome.library


def page(outcomes: list[Outcome], wheel: str) -> str:
    """The Markdown text."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for outcome in sorted(outcomes, key=key_of):
        rows.setdefault((outcome.torch, outcome.python), {})[outcome.library] = in_words(outcome)
    text = (SOURCE / "ci" / "what_works.md.jinja").read_text()
    template = jinja2.Template(text, trim_blocks=True, keep_trailing_newline=True)
    return template.render(rows=rows, libraries=list(TRIALS), wheel=wheel)


def main() -> int:
    """Reads the command line, tries each pair, and writes what is known after each of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path, metavar="WHEEL")
    parser.add_argument("--python", nargs="+", required=True, metavar="PYTHON", help="paths or versions")
    parser.add_argument("--torch", nargs="+", required=True, metavar="VERSION")
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="JSON; it is added to")
    parser.add_argument("--page", type=Path, metavar="FILE", help="Markdown, from all results of the file")
    options = parser.parse_args()
    if not options.wheel.is_file():
        parser.error(f"there is no {options.wheel}: ci/wheel builds it")
    known = (
        [Outcome(**one) for one in json.loads(options.results.read_text())]
        if options.results.exists()
        else []
    )
    tried: list[Outcome] = []
    for torch in options.torch:
        for python in options.python:
            # Torch's compilation of extensions fails in a folder with a space in its name.
            with tempfile.TemporaryDirectory(prefix="opgate-tries-") as place:
                tried += outcomes_of(python, torch, options.wheel.resolve(), Path(place))
            again = {(one.python, one.torch, one.library) for one in tried}
            kept = [one for one in known if (one.python, one.torch, one.library) not in again]
            all_of_them = sorted([*kept, *tried], key=key_of)
            options.results.write_text(json.dumps([asdict(one) for one in all_of_them], indent=1) + "\n")
            if options.page:
                options.page.write_text(page(all_of_them, options.wheel.name))
    return 0 if all(outcome.works for outcome in tried) else 1


if __name__ == "__main__":
    sys.exit(main())
