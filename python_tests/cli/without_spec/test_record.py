"""opgate record: what a program calls becomes samples, and `opgate run` checks them without a spec."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import Completed, OpGate, assert_refused, read_results

PROGRAM = """
import sys, torch
torch.ops.load_library("libseen.so")
x = torch.arange(24.).reshape(4, 6) / 7
for _ in range(5):
    y = torch.ops.seen.blind(x)
torch.ops.seen.blind(x.double(), 3.)
torch.ops.seen.blind(x.t(), 3.)
rows = torch.tensor([3, 0, 3])
z = torch.ops.seen.pick(x, rows, [0.5])
try:
    torch.ops.seen.blind(x, -1.)
except RuntimeError:
    pass
print(y.sum().item(), z.sum().item())
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""

IN_CPP = """
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <dlfcn.h>
#include <cstdio>

int main() {
  if (dlopen("./libseen.so", RTLD_NOW) == nullptr) return 3;
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("seen::blind", "");
  const at::Tensor y = op.typed<at::Tensor(const at::Tensor&, double)>().call(at::ones({2, 3}), 2.);
  std::printf("%g\\n", y.sum().item<double>());
}
"""


@pytest.fixture
def folder(seen_library: Path, tmp_path: Path) -> Path:
    """A user's folder with only the library and a program that uses it."""
    place = tmp_path / "a user's folder"
    place.mkdir()
    shutil.copy(seen_library, place / "libseen.so")
    (place / "program.py").write_text(PROGRAM)
    return place


@pytest.fixture
def record(opgate: OpGate) -> Callable[..., Completed]:
    def run(folder: Path, *words: str | Path, options: tuple[str | Path, ...] = ()) -> Completed:
        return opgate("record", *options, "--", *(words or (sys.executable, "program.py")), folder=folder)

    return run


Record = Callable[..., Completed]


@pytest.fixture(scope="module")
def recording(
    seen_library: Path, opgate: OpGate, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Completed, Path]:
    """What `opgate record` printed for the program, and the folder where it wrote; tests copy it."""
    place = tmp_path_factory.mktemp("recording") / "a user's folder"
    place.mkdir()
    shutil.copy(seen_library, place / "libseen.so")
    (place / "program.py").write_text(PROGRAM)
    return opgate("record", "--", sys.executable, "program.py", folder=place), place


@pytest.fixture
def recorded_folder(recording: tuple[Completed, Path], tmp_path: Path) -> Path:
    """A folder in which the program's calls were recorded once."""
    return shutil.copytree(recording[1], tmp_path / "a recorded folder")


def recorded(folder: Path, op: str) -> dict[str, Any]:
    described: dict[str, Any] = json.loads((folder / "recorded" / f"seen.{op}.json").read_text())
    return described


CHOLESKY = """
import torch

torch.linalg.cholesky(torch.eye(20) + 0.01)  # 400 elements, of which a recording keeps the range
torch.ops.aten.is_same_size(torch.ones(2), torch.ones(2))
"""


def test_values_that_stand_for_recorded_ones_break_no_spec_where_they_are_refused(
    opgate: OpGate, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(CHOLESKY)
    program = ["--namespace", "aten", "--", sys.executable, "program.py"]
    assert opgate("record", *program, folder=tmp_path).returncode == 0
    (tmp_path / "opgate.toml").write_text('recorded = "recorded"\n')
    checks = ["opcheck", "value.layout", "memory.lifetime", "effect.alias"]
    run = opgate("run", "--op", "linalg_cholesky", "is_same_size", "--check", *checks, folder=tmp_path)
    assert run.returncode == 0, run
    assert "a recording keeps only the range of a large tensor" in run.stdout
    results = read_results(tmp_path / ".opgate")
    of_contiguous = {
        line["verdict"] for case, line in results.of("linalg_cholesky").items() if "/contiguous/" in case
    }
    assert of_contiguous == {"owed"}, run.stdout
    assert {line["verdict"] for line in results.of("is_same_size").values()} <= {"pass", "owed"}


WITHOUT_MEMORY = """
import torch

library = torch.library.Library("sizes_only", "DEF")
library.define("rows(Tensor x) -> int")
library.impl("rows", lambda x: x.shape[0], "CPU")
freed = torch.ones(3, 4)
freed.untyped_storage().resize_(0)
short = torch.ones(3, 4)
short.untyped_storage().resize_(8)
print([torch.ops.sizes_only.rows(x) for x in (freed, short, freed[3:], torch.ones(3, 4))])
"""


def test_tensors_without_memory_are_left_out_without_an_exception(record: Record, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WITHOUT_MEMORY)
    result = record(tmp_path)
    assert result.returncode == 0, result
    assert result.stdout.startswith("[3, 3, 0, 3]\n")
    assert result.stderr == "", "torch prints exceptions of a recorder with their stacks"
    assert "not kept: 2 calls with a tensor whose memory is not allocated" in result.stdout
    assert "recorded: 4 calls of 1 operator, 2 samples in " in result.stdout


def test_what_python_described_for_other_recordings_is_not_taken(opgate: OpGate, tmp_path: Path) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    (tmp_path / "nothing").mkdir()
    (tmp_path / "opgate.toml").write_text('recorded = "nothing"\n')
    assert_refused(opgate("run", folder=tmp_path, environment=cache), "nothing to check")
    (tmp_path / "opgate.toml").unlink()
    (tmp_path / "program.py").write_text(CHOLESKY)
    program = ["--namespace", "aten", "--", sys.executable, "program.py"]
    assert opgate("record", *program, folder=tmp_path).returncode == 0
    (tmp_path / "opgate.toml").write_text('recorded = "recorded"\n')
    words = ["--op", "is_same_size", "--check", "opcheck"]
    run = opgate("run", *words, folder=tmp_path, environment=cache)
    assert run.returncode == 0, run


def test_a_program_s_calls_become_samples_and_are_checked(
    recording: tuple[Completed, Path], recorded_folder: Path, opgate: OpGate
) -> None:
    result, folder = recording[0], recorded_folder
    alone = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert result.returncode == 0, result
    assert result.stdout.startswith(alone.stdout), "the program computes what it computes without"
    assert "recorded: 9 calls of 2 operators, 4 samples in " in result.stdout
    assert "1 kinds of call that raised, kept as such" in result.stdout
    blind = recorded(folder, "blind")
    assert (blind["calls"], blind["dtypes"]) == (8, {"cpu": ["float32", "float64"]})
    assert [sample["calls"] for sample in blind["samples"]] == [5, 1, 1]
    assert {"x strides (1,6)": 1} in [sample.get("layouts") for sample in blind["samples"]]
    rows = recorded(folder, "pick")["samples"][0]["arguments"][1]
    assert rows == {"shape": [3], "dtype": "int64", "values": "literal(3,0,3)"}

    # `opgate record` wrote the configuration, and it suffices.
    checks = ["value", "effect", "memory", "fake.metadata", "error"]
    run = opgate("run", "--check", *checks, folder=folder)
    assert run.returncode == 1, run
    results = read_results(folder / ".opgate")
    failing = {"value.layout", "value.index64", "memory.bounds"}
    assert results.failing_checks("blind") == failing, run.stdout
    assert results.failing_checks("pick") == set(), run.stdout
    likely = "`x` has only 6 elements of storage"
    assert any(line.get("likely", "").startswith(likely) for line in results.cases.values())
    assert "1 blind on cpu, wrong values: `x` is read as if it were dense" in run.stdout
    again = opgate("repro", "blind/float32/4x6,2./x=expanded/cpu/value.layout", folder=folder)
    assert again.returncode == 1, again
    assert re.search(r"^factor +2\.$", again.stdout, re.MULTILINE), again.stdout
    damaged = opgate("repro", "blind/float32/4x6,2./bad:factor=-1/cpu/error.raises", folder=folder)
    assert re.search(r"^factor +-1\.$", damaged.stdout, re.MULTILINE), damaged.stdout
    assert {case.rpartition("/")[2] for case in results.cases} >= {
        "error.raises",
        "memory.bounds",
        "fake.metadata",
    }
    assert not any("value.reference" in case for case in results.cases)


REFUSED = """
import torch

torch.ops.load_library("libseen.so")
x = torch.arange(24.0).reshape(4, 6)
for rows in ([9, 0, 3], [3, 0, 3], [2, 99]):
    try:
        torch.ops.seen.pick(x, torch.tensor(rows), [0.5])
    except (IndexError, RuntimeError):
        pass
"""


def test_what_always_raised_is_asked_again_and_what_raised_first_has_values_that_did_not(
    folder: Path, record: Record, opgate: OpGate
) -> None:
    (folder / "program.py").write_text(REFUSED)
    assert record(folder).returncode == 0
    pick = recorded(folder, "pick")
    assert [sample["arguments"][1]["values"] for sample in pick["samples"]] == ["literal(3,0,3)"]
    assert [refused["arguments"][1]["values"] for refused in pick["rejections"]] == ["literal(2,99)"]
    words = ["--op", "pick", "--check", "error.raises"]
    run = opgate("run", *words, folder=folder)
    assert run.returncode == 0, run
    assert "when it was recorded" not in run.stdout
    refused = [case for case in read_results(folder / ".opgate").of("pick") if "/raised " in case]
    assert len(refused) == 1, run.stdout

    # The same rejection for rows that the operator takes.
    file = folder / "recorded" / "seen.pick.json"
    file.write_text(file.read_text().replace("literal(2,99)", "literal(2,1)"))
    run = opgate("run", *words, folder=folder)
    assert run.returncode == 0, run
    assert "raised when it was recorded" in run.stdout
    assert opgate("run", "--strict", *words, folder=folder).returncode == 1


def test_a_layout_that_a_recorded_operator_refuses_in_words_is_a_note(
    seen_library: Path, opgate: OpGate, tmp_path: Path
) -> None:
    shutil.copy(seen_library, tmp_path / "libseen.so")
    (tmp_path / "program.py").write_text(
        "import torch\ntorch.ops.load_library('libseen.so')\n"
        "x = torch.ones(4, 6, requires_grad=True)\ntorch.ops.seen.picky(x).sum().backward()\n"
    )
    assert opgate("record", "--", sys.executable, "program.py", folder=tmp_path).returncode == 0
    run = opgate("run", "--check", "value", "grad", folder=tmp_path)
    assert run.returncode == 0, run
    (note,) = [line for line in run.stdout.splitlines() if "picky: " in line and "value.layout" in line]
    assert 'saying "picky: x must be contiguous"' in note
    assert re.search(r"\(value.index64 1, value.layout \d+\)$", note), note


def test_a_second_recording_adds_and_a_new_one_forgets(recorded_folder: Path, record: Record) -> None:
    folder = recorded_folder
    other = "import torch; torch.ops.load_library('libseen.so'); torch.ops.seen.blind(torch.ones(3))"
    record(folder, sys.executable, "-c", other)
    assert [sample["calls"] for sample in recorded(folder, "blind")["samples"]] == [1, 5, 1, 1]
    again = record(folder, sys.executable, "-c", other, options=("--anew",))
    assert again.returncode == 0
    assert [sample["calls"] for sample in recorded(folder, "blind")["samples"]] == [1]


def test_the_exit_status_is_the_program_s(folder: Path, record: Record) -> None:
    result = record(folder, sys.executable, "program.py", "7")
    assert result.returncode == 7
    assert "the program ended with exit status 7; the calls that it made until then are kept" in result.stdout
    assert recorded(folder, "blind")["samples"]


def test_what_a_killed_program_called_is_kept(folder: Path, record: Record) -> None:
    (folder / "program.py").write_text(
        PROGRAM.replace("print(", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\nprint(")
    )
    result = record(folder)
    assert result.returncode == 128 + 9
    assert "SIGKILL" in result.stdout
    assert [sample["calls"] for sample in recorded(folder, "blind")["samples"]] == [4, 1, 1]  # 5: said at 4


def test_children_are_recorded_too(folder: Path, record: Record) -> None:
    (folder / "program.py").write_text("""
import os, subprocess, sys, torch
torch.ops.load_library("libseen.so")
torch.ops.seen.blind(torch.ones(2))
child = os.fork()
torch.ops.seen.blind(torch.ones(3))
if child == 0:
    torch.ops.seen.blind(torch.ones(4))
    sys.exit(0)
os.waitpid(child, 0)
subprocess.run([sys.executable, "-c",
    "import torch; torch.ops.load_library('libseen.so'); torch.ops.seen.blind(torch.ones(5))"], check=True)
""")
    assert record(folder).returncode == 0
    calls = {tuple(s["arguments"][0]["shape"]): s["calls"] for s in recorded(folder, "blind")["samples"]}
    assert calls == {(2,): 1, (3,): 2, (4,): 1, (5,): 1}


@pytest.mark.long
def test_calls_from_cpp_are_recorded(folder: Path, record: Record) -> None:
    torch_folder = Path(torch.__file__).parent
    (folder / "program.cpp").write_text(IN_CPP)
    include = [torch_folder / "include", torch_folder / "include" / "torch" / "csrc" / "api" / "include"]
    libraries = [torch_folder / "lib", *Path(torch_folder).parent.glob("nvidia/*/lib")]
    command = ["g++", "-std=c++20", "-O0", "program.cpp", "-o", "program", *(f"-isystem{i}" for i in include)]
    command += [f"-L{torch_folder}/lib", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10"]
    command += [f"-Wl,-rpath,{torch_folder}/lib", *(f"-Wl,-rpath-link,{place}" for place in libraries)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    result = record(folder, "./program")
    assert result.returncode == 0, result
    assert result.stdout.startswith("12\n")
    assert recorded(folder, "blind")["samples"][0]["arguments"][0]["values"] == "literal(1,1,1,1,1,1)"
    assert 'libraries = ["./libseen.so"]' in (folder / "opgate.toml").read_text()


@pytest.mark.long
def test_operators_written_in_python_are_found(folder: Path, record: Record, opgate: OpGate) -> None:
    (folder / "my_ops.py").write_text("""
import torch

@torch.library.custom_op("seen::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)

twice.register_autograd(lambda context, gradient: gradient * 2)
""")
    program = "import torch, my_ops; my_ops.twice(torch.randn(3, 4, dtype=torch.double, requires_grad=True))"
    (folder / "program.py").write_text(program)
    result = record(folder)
    assert result.returncode == 0, result
    assert 'python = ["my_ops"]' in (folder / "opgate.toml").read_text()
    run = opgate("run", "--check", "value", "grad", "fake.metadata", folder=folder)
    assert run.returncode == 0, run
    results = read_results(folder / ".opgate")
    assert {case.rpartition("/")[2] for case in results.cases} >= {
        "value.layout",
        "grad.numeric",
        "grad.layout",
    }


FAKES = {
    "twice.py": """
import torch

@torch.library.custom_op("seen::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@torch.library.custom_op("seen::thrice", mutates_args=())
def thrice(x: torch.Tensor) -> torch.Tensor:
    return x * 3
""",
    "alike.py": """
import torch

def returns_alike(name):
    torch.library.register_fake(name, torch.empty_like)
""",
    "fake_of_twice.py": """
import torch, twice

@twice.twice.register_fake
def _(x):
    return torch.empty_like(x)
""",
    "fake_of_thrice.py": "import alike; alike.returns_alike('seen::thrice')",
    "program.py": """
import torch, twice, fake_of_twice, fake_of_thrice
twice.twice(torch.randn(3, 4))
twice.thrice(torch.randn(3, 4))
""",
}


def test_modules_that_register_fake_kernels_of_others_are_found(
    opgate: OpGate, record: Record, tmp_path: Path
) -> None:
    """A fake kernel beside its operator's module, and one that a function of the library registers."""
    for name, text in FAKES.items():
        (tmp_path / name).write_text(text)
    assert record(tmp_path).returncode == 0
    configuration = (tmp_path / "opgate.toml").read_text()
    assert '"fake_of_twice"' in configuration and '"fake_of_thrice"' in configuration, configuration
    run = opgate("run", "--check", "fake.exists", folder=tmp_path)
    assert run.returncode == 0, run


LAUNCHERS = """
import torch
import triton


@triton.jit
def kernel(x):
    pass


def _launch(x):
    if x.is_cuda:
        kernel[(1,)](x)
    return 2 * x


def doubled(x):
    return _launch(x)


def can_launch(x):
    return kernel is not None and x.is_contiguous()


def by_configuration(configuration, x):
    return _launch(x)
"""


def test_public_functions_are_recorded_and_not_their_launchers(folder: Path, record: Record) -> None:
    (folder / "launchers.py").write_text(LAUNCHERS)
    (folder / "program.py").write_text(
        "import torch, launchers\n"
        "assert launchers.can_launch(torch.ones(3))\n"
        "launchers.doubled(torch.ones(3))\n"
        "launchers.by_configuration(object(), torch.ones(4))\n"
    )
    result = record(folder, sys.executable, "program.py")
    ops = {json.loads(file.read_text())["op"] for file in (folder / "recorded").glob("*.json")}
    # What no sample can hold is recorded by what it calls; a function that checks arguments is none to test.
    assert ops == {"launchers:doubled", "launchers:_launch"}, result
    assert "that only check arguments" in result.stdout + result.stderr, result


@pytest.mark.long
def test_what_a_module_imports_is_found_without_the_callers_path(
    folder: Path, tmp_path: Path, record: Record, opgate: OpGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere" / "factors").mkdir(parents=True)
    (tmp_path / "elsewhere" / "factors" / "__init__.py").write_text("TWO = 2\n")
    (folder / "my_ops.py").write_text("""
import torch
from factors import TWO

@torch.library.custom_op("seen::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * TWO
""")
    (folder / "program.py").write_text("import torch, my_ops; my_ops.twice(torch.randn(3, 4))")
    with monkeypatch.context() as context:
        context.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
        result = record(folder)
    assert "left out" not in result.stdout, result
    run = opgate("run", "--check", "value.layout", folder=folder)
    assert run.returncode == 0, run


def test_only_the_namespaces_asked_for(folder: Path, record: Record) -> None:
    result = record(folder, options=("--namespace", "other"))
    assert_refused_last(result, "no operator of other through the dispatcher")
    assert not (folder / "recorded").exists()
    assert not (folder / "opgate.toml").exists()


def assert_refused_last(result: Completed, *fragments: str) -> None:
    assert result.returncode == 2, result
    last = result.stderr.splitlines()[-1]
    assert last.startswith("opgate: nothing was recorded: ")
    for fragment in fragments:
        assert fragment in last


def test_a_program_without_torch_is_told(folder: Path, record: Record) -> None:
    assert_refused_last(record(folder, "true"), "true never loaded torch")


def test_a_program_with_another_torch_is_told_both_versions(folder: Path, record: Record) -> None:
    other = folder / "elsewhere" / "torch"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text('__version__ = "2.9.1+cpu"')
    (folder / "program.py").write_text("import sys\nsys.path.insert(0, 'elsewhere')\nimport torch\n")
    result = record(folder)
    assert "it uses torch 2.9.1, and this OpGate is built for torch 2." in result.stderr
    # A program in C++: its torch is a library beside a version.py.
    (other / "lib").mkdir()
    (other / "version.py").write_text("__all__ = ['__version__']\n__version__ = '2.9.1+cpu'\n")
    (folder / "empty.c").write_text("int nothing(void) { return 0; }")
    (folder / "program.c").write_text("int nothing(void); int main(void) { return nothing(); }")
    library = other / "lib" / "libtorch_cpu.so"
    run = functools.partial(subprocess.run, cwd=folder, check=True)
    run(["gcc", "-shared", "-fPIC", "empty.c", "-Wl,-soname,libtorch_cpu.so", "-o", str(library)])
    run(["gcc", "program.c", "-o", "program", str(library), f"-Wl,-rpath,{library.parent}"])
    result = record(folder, "./program")
    assert "the program uses torch 2.9.1+cpu, and this OpGate is built for torch 2." in result.stderr


def test_a_program_that_is_not_there_is_told(folder: Path, record: Record) -> None:
    assert_refused(record(folder, "./nothing"), "cannot start './nothing': No such file or directory")


def test_a_user_s_own_sitecustomize_is_imported(folder: Path, record: Record) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "sitecustomize.py").write_text("print('mine')\n")
    os.environ["PYTHONPATH"], present = f"{folder}/own", os.environ.get("PYTHONPATH", "")
    try:
        result = record(folder)
    finally:
        os.environ["PYTHONPATH"] = present
    assert result.stdout.startswith("mine\n")
    assert recorded(folder, "blind")["samples"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"recorded": 99}, "another version of OpGate wrote it; delete it and record again"),
        ({"op": "seen::gone"}, "nothing that opgate.toml loads defines seen::gone"),
        ({"samples": []}, "it has no sample of seen::blind"),
        ({"samples": [{"arguments": [1, 2, 3]}]}, "it was recorded when the schema was seen::blind"),
        ({"dtypes": {"cpu": ["float17"]}}, "'float17' is no dtype that OpGate knows"),
    ],
)
def test_a_record_that_does_not_fit_is_named(
    change: dict[str, Any], said: str, recorded_folder: Path, opgate: OpGate
) -> None:
    file = recorded_folder / "recorded" / "seen.blind.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    refused = opgate("run", "--check", "value.layout", folder=recorded_folder)
    assert_refused(refused, "seen.blind.json", said)


def test_a_record_that_is_cut_is_named(recorded_folder: Path, opgate: OpGate) -> None:
    file = recorded_folder / "recorded" / "seen.blind.json"
    file.write_text(file.read_text()[:40])
    assert_refused(opgate("run", folder=recorded_folder), "seen.blind.json: not a record of calls")


def test_samples_join_a_spec_that_is_there(recorded_folder: Path, opgate: OpGate) -> None:
    folder = recorded_folder
    with (folder / "opgate.toml").open("a") as config:
        config.write('specs = ["libopgate_seen_specs.so"]\n')
    run = opgate("run", "--check", "value.reference", folder=folder)
    assert run.returncode == 0, run
    cases = read_results(folder / ".opgate").of("pick")
    assert {case.split("/")[2] for case in cases} == {"2x2,3,[2.]", "4x6,3,[0.5]"}
