"""The Python half is asked once, and again if a file of it changed; verdicts are of the current files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

SPEC = """
import os

import opgate
import torch


@torch.library.custom_op("asked_once::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).contiguous()


@twice.register_fake
def _(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@opgate.spec("asked_once::twice")
def promise(spec: opgate.OpSpec) -> None:
    spec.dtypes(torch.float32, torch.float64, device="cpu").reference(lambda x: x + x)
    spec.accuracy(opgate.exact())
    for size in range(2, 3 + int(os.environb.get(b"MORE_SAMPLES", b"0"))):
        spec.sample(opgate.uniform(size, 3))


print("imported", file=open(os.environ["SEEN"], "a"))
"""


@pytest.fixture
def project(new_project: Callable[..., Path], tmp_path: Path) -> Path:
    folder = new_project(libraries=["libopgate_ops.so"], python=["asked_once_specs"], python_path=["."])
    (folder / "asked_once_specs.py").write_text(SPEC)
    return folder


@pytest.fixture
def run(opgate: OpGate, project: Path, tmp_path: Path) -> Callable[..., Completed]:
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "SEEN": str(tmp_path / "seen")}

    def call(*arguments: str, **more: str) -> Completed:
        return opgate(*arguments, folder=project, environment=environment | more)

    return call


def imports(tmp_path: Path) -> int:
    seen = tmp_path / "seen"
    return len(seen.read_text().splitlines()) if seen.exists() else 0


def test_python_is_asked_once_until_a_file_changes(
    run: Callable[..., Completed], project: Path, tmp_path: Path
) -> None:
    first = run("list", "cases")
    again = run("list", "cases")
    assert first.returncode == 0, first
    assert "asked_once::twice" in run("list", "ops").stdout
    assert first.stdout == again.stdout != ""
    assert imports(tmp_path) == 1
    (project / "asked_once_specs.py").write_text(SPEC.replace("range(2, 3", "range(2, 5"))
    assert len(run("list", "cases").stdout.splitlines()) > len(first.stdout.splitlines())
    assert imports(tmp_path) == 2


@pytest.mark.long
def test_verdicts_are_of_the_python_files(run: Callable[..., Completed], project: Path) -> None:
    def tested() -> str:
        result = run("run", "--check", "value.layout", "--device", "cpu")
        assert result.returncode == 0, result
        return read_results(project / ".opgate").header["libraries"]

    before = tested()
    assert tested() == before
    (project / "asked_once_specs.py").write_text(SPEC.replace("x * 2", "2 * x"))
    assert tested() != before


@pytest.mark.long
def test_calls_that_were_recorded_meanwhile_are_run(
    opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    folder = new_project(python=["asked_once_specs"], python_path=["."], recorded="recorded")
    (folder / "asked_once_specs.py").write_text(SPEC)
    (folder / "recorded").mkdir()
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "SEEN": str(tmp_path / "seen")}
    program = "import torch; torch.ops.aten.neg(torch.ones(3)); torch.ops.aten.{}(torch.ones(3))"
    for op in ("abs", "floor"):
        recording = opgate(
            *("record", "--namespace", "aten", "--anew", "--", sys.executable, "-c", program.format(op)),
            folder=folder,
        )
        assert recording.returncode == 0, recording
        result = opgate(
            "run", "--check", "opcheck", "--device", "cpu", folder=folder, environment=environment
        )
        assert result.returncode != 2, result
        assert read_results(folder / ".opgate").of(op)


@pytest.mark.long
def test_a_module_that_depends_on_more_than_files_is_noticed(run: Callable[..., Completed]) -> None:
    assert run("list", "cases").returncode == 0
    changed = ["run", "--check", "value.layout", "--device", "cpu"]
    assert_refused(run(*changed, MORE_SAMPLES="1"), "a module depends on more than files", "run again")
    assert run(*changed, MORE_SAMPLES="1").returncode == 0


def test_kernels_that_need_a_gpu_may_be_registered_only_where_there_is_one(
    run: Callable[..., Completed], project: Path
) -> None:
    module = (
        SPEC + "\nif os.environ['CUDA_VISIBLE_DEVICES']:\n    twice.register_kernel('cuda', twice._init_fn)\n"
    )
    (project / "asked_once_specs.py").write_text(module)

    def kernels(**environment: str) -> list[str]:
        result = run("run", "--check", "value.layout", "--device", "cpu", **environment)
        assert result.returncode == 0, result
        return read_results(project / ".opgate").header["subjects"]["twice"]["python_kernels"]

    assert "CUDA" in kernels(CUDA_VISIBLE_DEVICES="0")
    assert "CUDA" not in kernels(CUDA_VISIBLE_DEVICES="")


@pytest.mark.parametrize("check", ["value.reference", "opcheck"])
def test_an_operator_that_forks_has_one_verdict(
    check: str, run: Callable[..., Completed], project: Path
) -> None:
    """The child, which returns as the parent does, must be ended. Only the first call forks."""
    forking = SPEC.replace(
        "    return (x * 2)",
        "    if not os.environ.get('FORKED'):\n"
        "        os.environ['FORKED'] = 'once'\n"
        "        os.fork() and os.wait()\n"
        "    return (x * 2)",
    )
    (project / "asked_once_specs.py").write_text(forking)
    result = run("run", "--check", check)
    assert result.returncode == 0, result
    results = read_results(project / ".opgate")
    assert len(results.cases) == results.header["cases"]


def test_a_file_of_a_package_that_is_not_imported_may_change(
    run: Callable[..., Completed], project: Path
) -> None:
    """Results name the contents of the whole package, and so must what is kept of it."""
    package = project / "promises"
    package.mkdir()
    (package / "__init__.py").write_text(SPEC)
    (package / "unused.py").write_text("# before\n")
    config = project / "opgate.toml"
    config.write_text(config.read_text().replace("asked_once_specs", "promises"))
    words = ["run", "--op", "twice", "--check", "value.reference", "fake.metadata", "--device", "cpu"]
    assert run(*words).returncode == 0
    (package / "unused.py").write_text("# afterwards\n")
    again = run(*words)
    assert again.returncode == 0, again
