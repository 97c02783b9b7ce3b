"""opgate repro --python: a script of plain torch calls that shows what the finding says, without OpGate."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

# A defect, the check it is planted for, what its script ends with, the correct operator beside it, and what
# that one's script prints.
EXHAUSTIVE = pytest.mark.exhaustive
TOLD = [
    ("stride_blind", "value.layout", "AssertionError: Tensor-likes are not", "dense_copy", ""),
    pytest.param(
        *("dense_list", "value.layout", "AssertionError: Tensor-likes are not", "stack_rows", ""),
        marks=EXHAUSTIVE,
    ),
    ("gap_writer", "effect.mutation", "AssertionError: bytes of an input's storage", "copy_rows", ""),
    pytest.param(
        *("other_fake_strides", "fake.metadata", "AssertionError: fake kernel: ", "same_strides", ""),
        marks=EXHAUSTIVE,
    ),
    ("detached_weight", "grad.numeric", "GradcheckError: Jacobian mismatch", "learning_weight", ""),
    pytest.param(
        *("dithered_by_call", "run.deterministic", "AssertionError: Tensor-likes are not", "dithered", ""),
        marks=EXHAUSTIVE,
    ),
    pytest.param("returns_input", "opcheck", "OpCheckError", "fresh_copy", "", marks=EXHAUSTIVE),
    pytest.param("padded_rows", "compile.equal", "Error: ", "rows_told_padded", "", marks=EXHAUSTIVE),
    ("sizes_of_first", "error.raises", "accepted: ", "same_sizes", "refused: "),
]

ODD_NAMES = """
import opgate
import torch

library = torch.library.Library("odd_names", "DEF")
library.define("scale(Tensor async, *, float from=1.) -> Tensor")
library.impl("scale", lambda x, **keywords: x * keywords["from"], "CompositeExplicitAutograd")


@opgate.spec("odd_names::scale")
def promise(spec: opgate.OpSpec) -> None:
    spec.dtypes(torch.float32, device="cpu").draft().sample(opgate.uniform(4, 6), 2.0)
"""


@pytest.fixture(scope="module")
def config(source: Path) -> Path:
    return source / "fixtures" / "defects" / "opgate.toml"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out put")


# Imports torch once, and then runs each script that is named on stdin in a child process. What a script
# prints is written beside it, and its exit status to stdout.
INTERPRETER = """
import os, runpy, sys, traceback
import torch
import torch.distributed.tensor  # torch.testing imports it at its first comparison

for line in sys.stdin:
    script = line.rstrip("\\n")
    child = os.fork()
    if child == 0:
        for descriptor, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{script}.{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), descriptor)
        status = 0
        try:
            runpy.run_path(script, run_name="__main__")
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # to tear down all of torch would cost a third of its import
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

Run = Callable[[Path], Completed]


@pytest.fixture(scope="module")
def ran() -> Iterator[Run]:
    """Runs a script in a process of its own with a Python that has torch but not OpGate."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", INTERPRETER]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as interpreter:
        assert interpreter.stdin is not None and interpreter.stdout is not None

        def run(script: Path) -> Completed:
            print(script, file=interpreter.stdin, flush=True)
            status = int(interpreter.stdout.readline())
            written = [Path(f"{script}.{name}").read_text() for name in ("out", "err")]
            return subprocess.CompletedProcess([sys.executable, str(script)], status, *written)

        yield run
        interpreter.stdin.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("defect", "check", "ends", "twin", "prints"), TOLD, ids=lambda value: str(value)[:20]
)
def test_the_script_shows_the_defect_and_nothing_of_the_correct_operator(
    opgate: OpGate,
    ran: Run,
    config: Path,
    tmp_path: Path,
    defect: str,
    check: str,
    ends: str,
    twin: str,
    prints: str,
) -> None:
    output = tmp_path / "out put"
    words = ["--device", "cpu", "--op", defect, twin, "--check", check]
    opgate("run", "--config", config, "--output", output, *words)
    results = read_results(output)

    def script(case: str) -> Path:
        told = opgate("repro", "--python", case, "--config", config, "--output", output / "repro")
        assert told.returncode == (0 if results.cases[case]["verdict"] == "pass" else 1), told
        file = tmp_path / f"{case.split('/')[0]}.py"
        file.write_text(told.stdout)
        return file

    of_check = {case: line for case, line in results.cases.items() if case.endswith(f"/{check}")}
    failed = [c for c, line in of_check.items() if c.startswith(f"{defect}/") and line["verdict"] == "fail"]
    assert failed
    failing = script(failed[0])
    assert check in failing.read_text().splitlines()[0]
    shown = ran(failing)
    assert ends in shown.stdout + shown.stderr, shown
    assert (shown.returncode == 0) == (check == "error.raises")

    variant = failed[0].split("/")[3]
    passed = [c for c in of_check if c.startswith(f"{twin}/") and c.split("/")[3] == variant]
    silent = ran(script(passed[0]))
    assert silent.returncode == 0, silent.stderr
    assert silent.stdout.startswith(prints)
    assert silent.stderr == ""


@pytest.mark.parametrize(
    ("of", "case"),
    [
        ("defects", "returns_its_table/float32/*/table+rows=together/cpu/effect.mutation"),  # one is written
        ("defects", "dithered/float32/*/x=stepped/cpu/value.layout"),  # draws random numbers
        ("own", "add.Tensor/bfloat16/special/contiguous/cpu/value.reference"),  # has subnormal numbers
    ],
)
def test_what_opgate_passes_its_script_passes(
    opgate: OpGate, ran: Run, source: Path, config: Path, output: Path, tmp_path: Path, of: str, case: str
) -> None:
    of_project = ("--config", config if of == "defects" else source / "opgate.toml", "--output", output / of)
    listed = opgate("list", "cases", "--case", case, *of_project).stdout.split()
    told = opgate("repro", "--python", listed[0], *of_project)
    assert told.returncode == 0, told
    (tmp_path / "script.py").write_text(told.stdout)
    shown = ran(tmp_path / "script.py")
    assert shown.returncode == 0, shown


def test_names_that_python_keeps_for_itself(
    opgate: OpGate, ran: Run, new_project: Callable[..., Path]
) -> None:
    folder = new_project(python=["odd_names"], python_path=["."])
    (folder / "odd_names.py").write_text(ODD_NAMES)
    case = "scale/float32/4x6,2./async=stepped/cpu/value.layout"
    told = opgate("repro", "--python", case, folder=folder)
    assert told.returncode == 0, told
    (folder / "script.py").write_text(told.stdout)
    shown = ran(folder / "script.py")
    assert shown.returncode == 0, (told.stdout, shown)


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "ends"),
    [
        ("stride_blind/float32/2x3x5x6/x=stepped/cpu/value.layout", "Tensor-likes are not"),
        ("before_the_first/float32/3x4,0.5/contiguous/cpu/memory.bounds", "Tensor-likes are not"),
        ("dense_bias/float32/*/bias=stepped/cpu/value.layout", "Tensor-likes are not"),
    ],
)
def test_the_script_makes_the_smallest_call_without_numbers(
    opgate: OpGate, ran: Run, config: Path, output: Path, tmp_path: Path, case: str, ends: str
) -> None:
    of_project = ("--config", config, "--output", output / "smaller")
    listed = opgate("list", "cases", "--case", case, *of_project).stdout.split()
    script = opgate("repro", "--python", listed[0], *of_project).stdout
    lines = [line for line in script.partition("import torch\n")[2].splitlines() if line.strip()]
    assert len(lines) <= 20, script
    assert "torch.tensor([" not in script
    assert "torch.ones(" in script or "torch.arange(" in script
    (tmp_path / "script.py").write_text(script)
    shown = ran(tmp_path / "script.py")
    assert shown.returncode == 1, (script, shown)
    assert ends in shown.stderr
    kept = opgate("repro", "--python", "--keep", listed[0], *of_project).stdout
    assert "torch.tensor([" in kept
    assert len(kept.splitlines()) > len(script.splitlines())


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (("--op", "AddMatmul"), ("--python writes calls of operators", "AddMatmul")),
        (("--op", "add.Tensor", "--case", "*bad:*.undefined*"), ("an undefined tensor",)),
        (("--op", "stack_rows", "--case", "*bad:xs?0?.undefined*"), ("an undefined tensor",)),
        (
            ("--op", "matmul", "--case", "*13x300,300x33*"),
            ("elements", "no more than 4096", "a smaller sample"),
        ),
    ],
)
def test_what_no_script_can_say_is_told(
    opgate: OpGate,
    source: Path,
    config: Path,
    output: Path,
    of: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    of_defects = "stack_rows" in of
    of_project = ("--config", config if of_defects else source / "opgate.toml", "--output", output / "told")
    listed = opgate("list", "cases", "--device", "cpu", *of, *of_project)
    assert_refused(opgate("repro", "--python", listed.stdout.split()[0], *of_project), *words)


def test_a_library_of_a_python_module_needs_no_python_of_its_own(
    opgate: OpGate, ran: Run, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    """The search for a smaller call opens the project again, when Python's symbols are already there."""
    library = tmp_path / "libof_module.so"
    folder = new_project(libraries=["libopgate_wrong.so", str(library)], specs=["libopgate_wrong_specs.so"])
    source = "extern char PyInstanceMethod_Type;\nvoid* type(void) { return &PyInstanceMethod_Type; }\n"
    (tmp_path / "of_module.c").write_text(source)
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "of_module.c", "-o", library]
    subprocess.run(command, cwd=tmp_path, check=True)
    told = opgate("repro", "--python", "plus/float32/2/contiguous/cpu/value.reference", folder=folder)
    assert (told.returncode, told.stderr) == (1, ""), told
    (folder / "script.py").write_text(told.stdout)
    shown = ran(folder / "script.py")
    assert (shown.returncode, shown.stdout) == (0, "tensor([2., 2.])\n"), shown
