"""AOTInductor's packages and the graphs of torch.compile on the simulated device, with layers of torch."""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from harness import OpGate

pytest.importorskip("triton")

ALLOCATOR = "PYTORCH_NO_CUDA_MEMORY_CACHING"
CHECKS = [
    "export.graph",
    "aoti.python",
    "aoti.cpp",
    "aoti.cross",
    "aoti.dynamic",
    "aoti.refuses",
    "aoti.threads",
]


pytestmark = [pytest.mark.long, pytest.mark.usefixtures("needs_simulated_runtime")]


@pytest.fixture
def program(source: Path) -> Path:
    return source / "fixtures" / "programs" / "compiled_program.py"


def test_c_functions_take_arguments_of_each_kind(opgate: OpGate, program: Path, tmp_path: Path) -> None:
    run = opgate("sim", "--seconds", "0", "--", sys.executable, program, "shims", folder=tmp_path)
    assert (run.returncode, run.stdout) == (0, "shims\n"), run
    assert "nothing found" in run.stderr


@pytest.mark.parametrize(
    ("mode", "options", "kernels"),
    [
        ("package", [], ".cubin"),
        pytest.param(
            *("package_of_head", ["aot_inductor.emit_multi_arch_kernel"], ".fatbin"),
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            "package_of_head",
            ["aot_inductor.emit_multi_arch_kernel", "aot_inductor.embed_kernel_binary"],
            None,
            marks=pytest.mark.exhaustive,
        ),
    ],
    ids=["files", "files of many architectures", "embedded"],
)
def test_packages_of_layers_equal_the_cpu(
    opgate: OpGate, program: Path, tmp_path: Path, mode: str, options: list[str], kernels: str | None
) -> None:
    file = tmp_path / "block.pt2"
    run = opgate(
        *("sim", "--seconds", "0", "--", sys.executable, program, mode, file, *options), folder=tmp_path
    )
    assert (run.returncode, run.stdout) == (0, f"{mode}\n"), run
    assert "nothing found" in run.stderr
    binaries = {Path(name).suffix for name in ZipFile(file).namelist()} & {".cubin", ".fatbin"}
    assert binaries == ({kernels} if kernels else set())


def test_reduce_overhead_captures_graphs_with_torchs_allocator(
    opgate: OpGate, program: Path, tmp_path: Path
) -> None:
    command = ["env", "-u", ALLOCATOR, sys.executable, program, "graphs"]
    run = opgate("sim", "--seconds", "0", "--", *command, folder=tmp_path)
    assert (run.returncode, run.stdout) == (0, "graphs\n"), run
    assert "nothing found" in run.stderr


def test_a_model_passes_the_checks_of_packages_in_python_and_in_cpp(
    opgate: OpGate, source: Path, tmp_path: Path
) -> None:
    folder = source / "fixtures" / "compiled"
    run = opgate(
        "run", "--op", "Scores", "--device", "sim", "--check", *CHECKS, "--output", tmp_path, folder=folder
    )
    assert run.returncode == 0, run
    assert run.stdout.splitlines()[-1].startswith(f"0 passed, {len(CHECKS)} simulated, 0 failed, 0 owed"), run
