"""`opgate sim` with programs that were built for another CUDA or torch than OpGate."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import pytest
from harness import OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")

NVCC = ["nvcc", "-std=c++20", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80"]


def build(*words: str | Path) -> None:
    command = [str(word) for word in words]
    made = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="module")
def program(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """fixtures/cuda12/program.cu with the headers of CUDA 12, linked with its runtime."""
    try:
        cuda = Path(str(distribution("nvidia-cuda-runtime-cu12").locate_file("nvidia/cuda_runtime")))
    except PackageNotFoundError:
        pytest.skip("nvidia-cuda-runtime-cu12, which has headers of CUDA 12, is not installed")
    made = tmp_path_factory.mktemp("cuda12") / "program"
    build(
        *NVCC, "-cudart", "none", f"-I{cuda / 'include'}", f"-I{source / 'simulator' / 'src'}",
        source / "fixtures" / "cuda12" / "program.cu", f"-L{cuda / 'lib'}", "-l:libcudart.so.12", "-ldl",
        "-o", made,
    )  # fmt: skip
    return made


@pytest.mark.parametrize("part", ["structures", "kernels", "graphs", "textures"])
def test_a_program_for_cuda_12_runs(opgate: OpGate, program: Path, part: str) -> None:
    run = opgate("sim", "--seconds", "0", "--", program, part)
    assert (run.returncode, run.stdout) == (0, f"{part} is right\n"), run
    assert "opgate sim: nothing found" in run.stderr


def test_it_may_load_a_library_for_cuda_13(
    opgate: OpGate, program: Path, source: Path, tmp_path: Path
) -> None:
    library = tmp_path / "libfor_13.so"
    shared = ["-shared", "-Xcompiler", "-fPIC", "-cudart", "shared"]
    build(*NVCC, *shared, source / "fixtures" / "cuda12" / "library.cu", "-o", library)
    run = opgate("sim", "--seconds", "0", "--", program, "both", library)
    assert (run.returncode, run.stdout) == (0, "both is right\n"), run


def test_its_races_are_found(opgate: OpGate, program: Path) -> None:
    run = opgate("sim", "--", program, "race")
    assert run.returncode == 1, run
    assert " 1 race: st.global.u32 races with st.global.u32" in run.stderr
    assert re.search(r"at +\S*/cuda12/program\.cu:\d+$", run.stderr, re.MULTILINE), run


def test_a_function_that_is_not_simulated_is_named(opgate: OpGate, program: Path) -> None:
    run = opgate("sim", "--seconds", "0", "--", program, "unsimulated")
    assert "opgate sim: cudaGraphGetEdges is not simulated" in run.stderr, run


def test_the_runtime_of_an_older_cuda_ends_the_program(opgate: OpGate, tmp_path: Path) -> None:
    # It asks the driver for its functions, and gives its own a version, as the true one does.
    runtime = tmp_path / "libcudart.so.11.0"
    (tmp_path / "runtime.c").write_text(
        """#include <dlfcn.h>
int cudaGetDeviceCount(int* count) {
  void* function = 0;
  int (*find)(const char*, void**, int, unsigned long) = dlsym(dlopen("libcuda.so.1", 1), "cuGetProcAddress");
  return find("cuInit", &function, 11080, *count);
}
"""
    )
    (tmp_path / "program.c").write_text(
        "int cudaGetDeviceCount(int*);\nint main(void) { int n = 0; return cudaGetDeviceCount(&n); }\n"
    )
    versions = tmp_path / "versions"
    versions.write_text("libcudart.so.11.0 { global: *; };\n")
    names = f"-Wl,-soname,{runtime.name},--version-script={versions}"
    build("cc", "-shared", "-fPIC", tmp_path / "runtime.c", names, "-o", runtime)
    build("cc", tmp_path / "program.c", runtime, f"-Wl,-rpath,{tmp_path}", "-o", tmp_path / "program")
    run = opgate("sim", "--", tmp_path / "program")
    assert run.returncode == 2, run
    assert (
        f"opgate sim: {runtime} (the runtimes of CUDA 12 and 13 are: build the program for one of them) "
        "is not simulated" in run.stderr
    )


def test_another_torch_is_named(opgate: OpGate, tmp_path: Path) -> None:
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "version.py").write_text("__version__ = '1.13.1+cu117'\n")
    library = tmp_path / "torch" / "lib" / "libtorch_cuda.so"
    (tmp_path / "nothing.c").write_text("int nothing;\n")
    build("cc", "-shared", "-fPIC", tmp_path / "nothing.c", f"-Wl,-soname,{library.name}", "-o", library)
    script = "import sys\nfrom ctypes import CDLL\nCDLL(sys.argv[1])\n"
    script += "CDLL('libcudart.so.13').cudaGetDeviceCount(None)"
    run = opgate("sim", "--seconds", "0", "--", "python", "-c", script, library)
    release = re.escape(".".join(version("torch").split(".")[:2]))
    assert re.search(
        r"^opgate sim: torch's CUDA operators cannot be simulated: the program has torch 1\.13\.1\+cu117, "
        rf"and \S+ has the operators of torch (\S+, )*{release}",
        run.stderr,
        re.MULTILINE,
    ), run
