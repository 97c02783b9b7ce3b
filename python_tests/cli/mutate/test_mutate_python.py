"""`opgate mutate` on an operator in operators of torch, and on one in Triton on the simulated device."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest
from harness import Completed, OpGate

pytestmark = pytest.mark.long

CHECKS = ["value.reference", "value.layout", "error", "fake.metadata"]
PLAIN = ["--op", "scale", "--device", "cpu", "--check", *CHECKS]
KINDS = ["--kind", "mask", "--kind", "other", "--kind", "axis", "--kind", "constant", "--kind", "comparison"]
COMPILED = ["--op", "shift", "--device", "sim", "--check", "value.reference", "value.dtype"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    """The project, in a folder with a space."""
    folder = tmp_path_factory.mktemp("some rows") / "project"
    return shutil.copytree(source / "fixtures" / "mutation_python", folder)


def changes(project: Path, fate: str) -> set[tuple[str, str, str]]:
    """The mutants of the last command that had this fate: functions, what they change, and into what."""
    lines = (project / ".opgate" / "mutants.jsonl").read_text().splitlines()
    return {
        (each["function"], each["original"], each["mutated"])
        for each in map(json.loads, lines)
        if each["fate"] == fate
    }


@pytest.fixture(scope="module")
def scored(opgate: OpGate, project: Path) -> Completed:
    """The command for the operator that is written in operators of torch."""
    return opgate("mutate", "rows/plain.py", *PLAIN, folder=project)


def test_mistakes_in_an_operator_of_torch_are_noticed_or_survive(scored: Completed, project: Path) -> None:
    assert scored.returncode == 0, scored
    assert "without a mutant, so that" not in scored.stdout, "the instrumented module passes all its checks"
    # The spec has no weight of another size or dtype, and does not promise fake_refuses.
    survivors = {(function, original.split()[0]) for function, original, _ in changes(project, "survived")}
    assert survivors == {
        ("check", "torch._check("),
        ("check", "torch._check(x.dtype"),
        ("check", "torch._check(weight.shape"),
        ("fake", "check(x,"),
    }
    assert changes(project, "equivalent") == {("scale", "x.is_complex()", "False")}
    # No sample is complex, and the checks that take part ask for no derivative.
    assert changes(project, "not reached") == {
        ("scale", "x.conj().clone()", "x.conj()"),
        ("save", "ctx.save_for_backward(*inputs)", ""),
        ("differentiate", "grad * weight[:, None]", "grad + weight[:, None]"),
        ("differentiate", "grad * x", "grad + x"),
        ("differentiate", "1", "0"),
    }
    assert changes(project, "killed") >= {
        ("check", "x.dim() == 2", "x.dim() != 2"),
        ("scale", "x.contiguous()", "x"),
        ("scale", "x.contiguous() * weight[:, None]", "x.contiguous() + weight[:, None]"),
        ("fake", "x.shape", "x.stride()"),
    }
    assert "not compiled" not in scored.stdout


def test_what_is_not_changed_has_no_mutants_after_the_command(
    scored: Completed, opgate: OpGate, project: Path
) -> None:
    assert scored.returncode == 0
    assert opgate("run", *PLAIN, folder=project).returncode == 0
    assert "_opgate_is" not in (project / "rows" / "plain.py").read_text()


def test_a_project_of_python_needs_no_parser_of_other_languages(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "tree_sitter_cuda.py").write_text("raise ImportError('it is not installed')\n")
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    words = ["mutate", "rows/plain.py", *PLAIN, "--kind", "layout"]
    run = opgate(*words, folder=project, environment=environment)
    assert run.returncode == 0, run
    assert "1 mutant in 1 source" in run.stdout or "2 mutants in 1 source" in run.stdout, run


def test_an_older_copy_of_a_module_is_reported(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    installed = shutil.copytree(project / "rows", tmp_path / "installed" / "rows")
    with (installed / "plain.py").open("a") as file:
        file.write("# older\n")
    config = (project / "opgate.toml").read_text().replace('["."]', f'["{tmp_path / "installed"}", "."]')
    (project / "older.toml").write_text(config)
    run = opgate("mutate", "rows/plain.py", *PLAIN, "--config", "older.toml", folder=project)
    assert run.returncode == 2, run
    assert f"rows.plain was loaded from {installed / 'plain.py'}, which is not the file" in run.stderr, run


def test_sources_of_libraries_need_a_command(opgate: OpGate, project: Path) -> None:
    pytest.importorskip("tree_sitter_cuda")
    (project / "rows" / "more.cpp").write_text("int f(int a, int b) { return a + b; }\n")
    try:
        run = opgate("mutate", folder=project)
    finally:
        (project / "rows" / "more.cpp").unlink()
    assert run.returncode == 2, run
    assert "opgate.toml does not say how the project is built" in run.stderr, run


@pytest.mark.usefixtures("needs_simulated_runtime")
@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="there is no triton, whose kernel this is"
)
def test_mistakes_in_a_kernel_are_noticed_or_not_reached_or_not_compiled(
    opgate: OpGate, project: Path
) -> None:
    run = opgate("mutate", "rows/compiled.py", *COMPILED, *KINDS, "--verbose", folder=project)
    assert run.returncode == 0, run
    # The kernel adds narrower types than the reference does.
    assert "3 cases fail without a mutant, so that they judge no mutant, such as shift/float16" in run.stdout
    killed = {change for change in changes(project, "killed") if change[0] != "shift"}
    assert killed == {
        ("columns_of_program", "1", "0"),
        ("columns_of_program", "column < columns", "column <= columns"),
        ("shift_kernel", "0", "1"),
        ("shift_kernel", "tl.load(x + place, mask=inside, other=0.0)", "tl.load(x + place)"),
        ("shift_kernel", "tl.store(out + place, shifted, mask=inside)", "tl.store(out + place, shifted)"),
    }
    # Elements of a row that do not exist are not stored. Triton compiles the kernel for no dtype of 8 bits,
    # with this mutant or without it.
    load = "tl.load(x + place, mask=inside, other={})"
    assert ("shift_kernel", load.format("0.0"), load.format("0.0 + 1")) in changes(project, "survived")
    assert changes(project, "not reached") == {("unused_kernel", "1", "0")}
    assert changes(project, "does not compile") == {("columns_of_program", "0", "1")}
    assert run.stdout.endswith("1 mutant is not compiled by Triton\n"), run
