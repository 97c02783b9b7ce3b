"""Someone else's CUDA library and what an installed OpGate must do with it without a GPU."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import torch

Run = Callable[..., subprocess.CompletedProcess[str]]
"""Runs a program of the environment that has OpGate: its words, and ``folder=`` for the working folder."""

TORCH = Path(torch.__file__).parent


def compile_library(project: Path, *definitions: str) -> None:
    """Compiles it to PTX, with the shared runtime, as torch's own extensions are."""
    include = [TORCH / "include", TORCH / "include" / "torch" / "csrc" / "api" / "include"]
    words = ["nvcc", "-shared", "-cudart", "shared", "-std=c++20", "-lineinfo", "-Xcompiler", "-fPIC"]
    words += ["-gencode", "arch=compute_80,code=compute_80", "--expt-relaxed-constexpr", *definitions]
    words += [word for folder in include for word in ("-isystem", folder)]
    words += [project / "scale.cu", "-o", project / "libtheir_ops.so", f"-L{TORCH / 'lib'}"]
    words += ["-lc10", "-lc10_cuda", "-ltorch_cpu", "-Xlinker", "--no-as-needed"]
    subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=900)


def assert_it_is_checked_without_a_gpu(run: Run, source: Path, folder: Path) -> None:
    """`run` runs `opgate` or `python` of the environment under test, with these words."""
    project = shutil.copytree(source / "fixtures" / "cuda_library", folder / "their library")
    compile_library(project)
    tests = ["--", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_scale.py"]

    right = run("opgate", "sim", *tests, folder=project)
    assert right.returncode == 0, right
    assert "1 passed" in right.stdout
    assert "opgate sim: nothing found" in right.stderr

    recorded = run("opgate", "record", "--sim", *tests, folder=project)
    assert recorded.returncode == 0, recorded
    checked = run("opgate", "run", "--device", "sim", "--check", "value", "memory", "error", folder=project)
    assert checked.returncode == 0, checked
    assert re.search(r"^0 passed, [1-9]\d* simulated, 0 failed, 0 owed", checked.stdout, re.MULTILINE), (
        checked
    )

    compile_library(project, "-DPAST_THE_END")
    wrong = run("opgate", "sim", *tests, folder=project)
    assert wrong.returncode == 1, wrong
    assert re.search(r"memory: ld\.global\.\w+ of 4 bytes at 0x\w+: past the end", wrong.stderr), wrong
    found = run("opgate", "run", "--device", "sim", "--check", "value", "memory", "error", folder=project)
    assert found.returncode == 1, found
    assert "scale on sim" in found.stdout, found
