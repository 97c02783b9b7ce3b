"""Projects of each kind in which people build operator libraries; none of them knows OpGate.

Each has the operator kinds::scale, or a function that no dispatcher knows, and a program that calls it.
`write(folder, factor)` writes the project, whose operator multiplies by `factor`; `build` are the commands
that build it.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch

KERNEL = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

at::Tensor scale(const at::Tensor& x, double by) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, "x must be Float, got ", x.scalar_type());
  const at::Tensor dense = x.contiguous();
  at::Tensor out = at::empty_like(dense);
  const float* from = dense.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < dense.numel(); ++i) to[i] = factor(from[i]) * static_cast<float>(by);
  return out;
}
at::Tensor scale_meta(const at::Tensor& x, double) {
  return at::empty_like(x, at::MemoryFormat::Contiguous);
}
TORCH_LIBRARY(kinds, m) { m.def("scale(Tensor x, float by) -> Tensor"); }
TORCH_LIBRARY_IMPL(kinds, CPU, m) { m.impl("scale", &scale); }
TORCH_LIBRARY_IMPL(kinds, Meta, m) { m.impl("scale", &scale_meta); }
"""
STABLE = """
#include <Python.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

Tensor scale(Tensor x, double by) {
  Tensor dense = torch::stable::contiguous(x);
  Tensor out = torch::stable::empty_like(dense);
  const float* from = reinterpret_cast<const float*>(dense.data_ptr());
  float* to = reinterpret_cast<float*>(out.data_ptr());
  for (int64_t i = 0; i < dense.numel(); ++i) to[i] = factor(from[i]) * static_cast<float>(by);
  return out;
}
STABLE_TORCH_LIBRARY(kinds, m) { m.def("scale(Tensor x, float by) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(kinds, CPU, m) { m.impl("scale", TORCH_BOX(&scale)); }

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr};
extern "C" PyObject* PyInit__C(void) { return PyModule_Create(&module); }
"""
FAKE = """
@torch.library.register_fake("kinds::scale")
def _(x, by):
    return torch.empty_like(x, memory_format=torch.contiguous_format)
"""
PROGRAM = """
import torch
{preparation}
{imported}
x = torch.randn(4, 6, device="{device}")
y = {call}(x, 1.5)
assert y.shape == x.shape
"""
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
build = {{"build_ext": BuildExtension.with_options(use_ninja=False)}}
library = CppExtension("kinds._C", ["kinds/ops.cpp"],
                       extra_compile_args={arguments}, py_limited_api={limited})
setup(name="kinds", packages=["kinds"], cmdclass=build, ext_modules=[library])
"""


def factor(value: float) -> str:
    """The C++ function that each kernel applies."""
    return f"static float factor(float x) {{ return x * {value}f; }}\n"


@dataclass(frozen=True)
class Kind:
    """One way to build a library of operators."""

    write: Callable[[Path, float], None]
    build: list[list[str]] = field(default_factory=list)
    preparation: str = ""
    static: bool = False
    """Whether the interpreter is to have no shared library."""
    runs: str = "native"
    """The worker that makes the calls."""
    said: str = ""
    """What `opgate run` must print."""
    call: str = "torch.ops.kinds.scale"
    """What the program calls."""
    imported: str = "import kinds"
    """How the program imports the package."""
    device: str = "cpu"
    """Where the program's tensors are: `cuda` stands for the simulated device."""

    @property
    def program(self) -> str:
        """The program that calls the operator or the function."""
        return PROGRAM.format(
            preparation=self.preparation, imported=self.imported, call=self.call, device=self.device
        )


def package(folder: Path, source: str, init: str) -> None:
    """The package kinds with a source file."""
    (folder / "kinds").mkdir(exist_ok=True)
    (folder / "kinds" / "ops.cpp").write_text(source)
    (folder / "kinds" / "__init__.py").write_text(init)


def extension(source: str, init: str, arguments: list[str], limited: bool) -> Callable[[Path, float], None]:
    """A project with the setup.py of PyTorch's tutorial."""

    def write(folder: Path, value: float) -> None:
        package(folder, factor(value) + source, init)
        (folder / "setup.py").write_text(SETUP.format(arguments=arguments, limited=limited))

    return write


FUNCTION = (
    KERNEL[: KERNEL.index("at::Tensor scale_meta")].replace(
        "<torch/library.h>", "<torch/csrc/utils/pybind.h>"
    )
    + """
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scale", &scale, pybind11::arg("x"), pybind11::arg("by") = 1.0);
}
"""
)
CUDA_SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="kinds", packages=["kinds"],
      cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
      ext_modules=[CUDAExtension("kinds._C", ["kinds/ops.cpp", "kinds/scale.cu"])])
"""
BINDING = """
#include <torch/csrc/utils/pybind.h>

at::Tensor scale(const at::Tensor& x, double by);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
"""
CUDA = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

__global__ void scale_kernel(const float* x, float* y, float by, int64_t count) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < count) y[i] = factor(x[i]) * by;
}
at::Tensor scale(const at::Tensor& x, double by) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == at::kFloat, "x must be Float on CUDA, got ",
              x.scalar_type(), " on ", x.device());
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor dense = x.contiguous(), out = at::empty_like(dense);
  const int64_t count = dense.numel();
  if (count == 0) return out;
  scale_kernel<<<static_cast<unsigned>((count + 127) / 128), 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
      dense.const_data_ptr<float>(), out.mutable_data_ptr<float>(), static_cast<float>(by), count);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""


def cuda_extension(folder: Path, value: float) -> None:
    """A project whose functions in CUDA are bound by pybind11."""
    package(folder, BINDING, "import torch\nfrom ._C import scale\n")
    (folder / "kinds" / "scale.cu").write_text("__device__ " + factor(value) + CUDA)
    (folder / "setup.py").write_text(CUDA_SETUP)


AUTOGRAD = """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return x * FACTOR * by

    @staticmethod
    def backward(ctx, gradient):
        return gradient * FACTOR * ctx.by, None
"""
TRITON = """
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, out, by, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out + at, tl.load(x + at, mask=inside) * FACTOR * by, mask=inside)


def scale(x, by):
    dense = x.contiguous()
    out = torch.empty_like(dense)
    if dense.numel():
        with torch.cuda.device(x.device):
            scale_kernel[(triton.cdiv(dense.numel(), 64),)](dense, out, by, dense.numel(), BLOCK=64)
    return out
"""
PYBIND = """
#include <torch/csrc/utils/pybind.h>
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
"""


def loaded(call: str, binding: str = "", source: str = KERNEL) -> Callable[[Path, float], None]:
    """A package that compiles its library when it is imported."""

    def write(folder: Path, value: float) -> None:
        package(
            folder,
            factor(value) + source + binding,
            "import torch\nfrom pathlib import Path\nHERE = Path(__file__).parent\n" + call,
        )

    return write


COMPILE = [
    os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-shared", "-fPIC",
    *(f"-I{Path(torch.__file__).parent}/include{more}" for more in ("", "/torch/csrc/api/include")),
]  # fmt: skip
TORCH_LIBRARIES = [f"-L{Path(torch.__file__).parent}/lib", "-ltorch", "-ltorch_cpu", "-lc10"]
LOADS = (
    "import torch\nfrom pathlib import Path\ntorch.ops.load_library(Path(__file__).parent / 'libkinds.so')\n"
)


def plain(init: str, source: str = KERNEL) -> Callable[[Path, float], None]:
    """A package with a library beside it."""

    def write(folder: Path, value: float) -> None:
        package(folder, factor(value) + source, init)

    return write


def needs_another(folder: Path, value: float) -> None:
    """The library has its function from one that only the module loads."""
    plain("import ctypes\nfrom pathlib import Path\n"
          "ctypes.CDLL(str(Path(__file__).parent / 'libhelper.so'), mode=ctypes.RTLD_GLOBAL)\n" + LOADS,
          source="")(folder, value)  # fmt: skip
    (folder / "kinds" / "ops.cpp").write_text("float factor(float x);\n" + KERNEL)
    (folder / "kinds" / "helper.cpp").write_text(f"float factor(float x) {{ return x * {value}f; }}\n")


CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(kinds LANGUAGES CXX)
find_package(Torch REQUIRED)
set(CMAKE_CXX_STANDARD 20)
add_library(kinds SHARED kinds/ops.cpp)
target_link_libraries(kinds "${TORCH_LIBRARIES}")
install(TARGETS kinds DESTINATION kinds)
"""


def cmake(folder: Path, value: float) -> None:
    """find_package(Torch), and a module that loads the library."""
    plain(LOADS)(folder, value)
    (folder / "CMakeLists.txt").write_text(CMAKE)


SCIKIT_BUILD = """
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"
[project]
name = "kinds"
version = "1.0"
[tool.scikit-build]
wheel.packages = ["src/kinds"]
cmake.define.CMAKE_PREFIX_PATH = "@TORCH@"
"""


def wheel(folder: Path, value: float) -> None:
    """A wheel that scikit-build-core makes with CMake, in a folder of installed packages."""
    (folder / "src" / "kinds").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "kinds" / "__init__.py").write_text(LOADS)
    (folder / "src" / "ops.cpp").write_text(factor(value) + KERNEL)
    (folder / "CMakeLists.txt").write_text(CMAKE.replace("kinds/ops.cpp", "src/ops.cpp"))
    (folder / "pyproject.toml").write_text(SCIKIT_BUILD.replace("@TORCH@", torch.utils.cmake_prefix_path))


def python_only(body: str) -> Callable[[Path, float], None]:
    """Operators without a library."""

    def write(folder: Path, value: float) -> None:
        (folder / "kinds.py").write_text("import torch\n" + body.replace("FACTOR", str(value)))

    return write


KERNEL_BUILD = """
set -e
rm -rf build
mkdir -p build/torch-cpu
cp kinds/__init__.py kinds/_ops.py kinds/metadata.json build/torch-cpu
{compile} kinds/ops.cpp -o build/torch-cpu/{id}.abi3.so {libraries}
"""
LOADS_KERNEL = """
import importlib.util, json, sys
from pathlib import Path
name = json.loads(Path("build/torch-cpu/metadata.json").read_text())["id"]
found = importlib.util.spec_from_file_location(name, "build/torch-cpu/__init__.py")
kinds = sys.modules[name] = importlib.util.module_from_spec(found)
found.loader.exec_module(kinds)
"""


def kernel(folder: Path, value: float) -> None:
    """The source of a kernel, and what kernel-builder does with it: each build has names of its own."""
    name = f"_kinds_cpu_{round(value * 1000):07x}"
    source = STABLE.replace("(kinds,", f"({name},").replace('"_C"', f'"{name}"').replace("__C", f"_{name}")
    init = "import torch\nfrom ._ops import ops\n" + FAKE.replace("kinds::", name + "::")
    package(folder, factor(value) + source, init + "\n\ndef scale(x, by):\n    return ops.scale(x, by)\n")
    (folder / "kinds" / "_ops.py").write_text(f"import torch\nfrom . import {name}\nops = torch.ops.{name}\n")
    metadata = {"name": "kinds", "id": name, "version": 1, "backend": {"type": "cpu"}}
    (folder / "kinds" / "metadata.json").write_text(json.dumps(metadata))
    script = KERNEL_BUILD.format(
        id=name,
        compile=shlex.join([*COMPILE, f"-I{sysconfig.get_path('include')}"]),
        libraries=shlex.join(TORCH_LIBRARIES),
    )
    (folder / "build.sh").write_text(script)


IMPORTS = "import torch\nfrom . import _C\n"
IMPORTED = [[sys.executable, "-c", "import kinds"]]
IN_PLACE = [[sys.executable, "setup.py", "-q", "build_ext", "--inplace"]]
ALONE = [[*COMPILE, "kinds/ops.cpp", "-o", "kinds/libkinds.so", *TORCH_LIBRARIES]]
PREFIX = torch.utils.cmake_prefix_path
KINDS: dict[str, Kind] = {
    "CppExtension with PYBIND11_MODULE": Kind(
        extension(KERNEL + PYBIND, IMPORTS, ["-O1"], False), IN_PLACE
    ),
    "CppExtension with the stable ABI": Kind(
        extension(STABLE, IMPORTS + FAKE, ["-O1", "-DPy_LIMITED_API=0x030b0000"], True),
        IN_PLACE,
        runs="python",  # as the fake kernel is registered there
    ),
    "cpp_extension.load, a Python module": Kind(
        loaded("from torch.utils.cpp_extension import load\n"
               "load('kinds_module', [str(HERE / 'ops.cpp')], build_directory=str(HERE),\n"
               "     extra_cflags=['-O1'])\n", PYBIND),
        IMPORTED,
    ),
    "cpp_extension.load_inline, a library": Kind(
        loaded("from torch.utils.cpp_extension import load_inline\n"
               "load_inline('kinds_inline', (HERE / 'ops.cpp').read_text(), build_directory=str(HERE),\n"
               "            extra_cflags=['-O1'], is_python_module=False, no_implicit_headers=True)\n"),
        IMPORTED,
    ),
    "CMake with find_package(Torch)": Kind(
        cmake,
        [["cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={PREFIX}"],
         ["cmake", "--build", "build"], ["cmake", "--install", "build", "--prefix", "."]],
    ),
    "scikit-build-core, an installed wheel": Kind(
        wheel,
        [[sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--upgrade",
          "--target", "installed", "."]],
        preparation="import sys; sys.path.insert(0, 'installed')",
    ),
    "a library that looks for torch beside it": Kind(
        plain(LOADS), [[*ALONE[0], "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/../torch/lib"]]
    ),
    "a library that needs another one": Kind(
        needs_another,
        [[*COMPILE, "kinds/helper.cpp", "-o", "kinds/libhelper.so"],
         [*COMPILE, "kinds/ops.cpp", "-o", "kinds/libkinds.so", *TORCH_LIBRARIES]],
    ),
    "an import that refuses": Kind(
        plain("import os\nif os.environ.get('KINDS_ANY_VERSION') != '1':\n"
              "    raise ImportError('kinds needs frobnicate 2')\n" + LOADS),
        ALONE,
        preparation="import os; os.environ['KINDS_ANY_VERSION'] = '1'",
    ),
    "PYBIND11_MODULE and a static Python": Kind(
        extension(KERNEL + PYBIND, IMPORTS, ["-O1"], False),
        IN_PLACE,
        static=True,
        runs="python",
        said="is checked in the Python worker alone",
    ),
    "custom_op": Kind(
        python_only("""
@torch.library.custom_op("kinds::scale", mutates_args=())
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    return (x * FACTOR * by).contiguous()

@scale.register_fake
def _(x, by):
    return torch.empty_like(x, memory_format=torch.contiguous_format)
"""), runs="python"),
    "torch.library.define": Kind(
        python_only("""
torch.library.define("kinds::scale", "(Tensor x, float by) -> Tensor")

@torch.library.impl("kinds::scale", "CPU")
def scale(x, by):
    return (x * FACTOR * by).contiguous()
""" + FAKE), runs="python"),
    "triton_op": Kind(
        python_only("""
@torch.library.triton_op("kinds::scale", mutates_args=())
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    return (x * FACTOR * by).contiguous()
"""), runs="python"),
    "functions of PYBIND11_MODULE": Kind(
        extension(FUNCTION, "import torch\nfrom ._C import scale\n", ["-O1"], False),
        IN_PLACE,
        runs="python",
        call="kinds.scale",
    ),
    "functions of a CUDAExtension": Kind(
        cuda_extension,
        [["env", "TORCH_CUDA_ARCH_LIST=8.0+PTX", *IN_PLACE[0]]],
        runs="python",
        call="kinds.scale",
        device="cuda",
    ),
    "functions of cpp_extension.load_inline": Kind(
        loaded("from torch.utils.cpp_extension import load_inline\n"
               "scale = load_inline('kinds_inline', (HERE / 'ops.cpp').read_text(), extra_cflags=['-O1'],\n"
               "                    build_directory=str(HERE), no_implicit_headers=True).scale\n",
               source=FUNCTION),
        IMPORTED,
        runs="python",
        call="kinds.scale",
    ),
    "a kernel of kernel-builder": Kind(
        kernel,
        [["sh", "build.sh"]],
        runs="python",  # as the fake kernel is registered there
        call="kinds.scale",
        imported=LOADS_KERNEL,
    ),
    "autograd Functions": Kind(python_only(AUTOGRAD), runs="python", call="kinds.Scale.apply"),
    "functions that launch Triton kernels": Kind(
        python_only(TRITON), runs="python", call="kinds.scale", device="cuda"
    ),
}  # fmt: skip


def static_python(folder: Path) -> str:
    """An interpreter that has no shared library, for tests that ask it; else the one of the tests."""
    script = folder / "static_python"
    script.write_text(f'#!/bin/sh\n[ "$1" = -S ] && {{ echo 3.11; exit; }}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)
