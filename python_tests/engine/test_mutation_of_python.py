"""Which mutants a Python source has, and that the module with all of them still does what it did."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from opgate.mutation.build import build, read
from opgate.mutation.language import Build
from opgate.mutation.mutant import Mutant
from opgate.mutation.python.language import instrumented, kernels


def mutants_in(folder: Path, code: str) -> list[Mutant]:
    """The mutants of a module. That it can be compiled with them, and keeps its lines, is asserted."""
    (folder / "source.py").write_text(code)
    source = read(folder, "source.py")
    everything = [mutant.number for mutant in source.mutants]
    with_switches = instrumented(source, everything)
    compile(with_switches, "source.py", "exec")
    assert with_switches.count(b"\n") == code.count("\n")
    for of_kernel in kernels(source, everything).values():
        for mutated in of_kernel.values():
            assert isinstance(ast.parse(mutated).body[0], ast.FunctionDef)
    return source.mutants


def changes_in(folder: Path, code: str) -> list[str]:
    """The kinds, originals and mutants of a module: "comparison: a < b -> a <= b"."""
    return [f"{each.kind}: {each.original} -> {each.mutated}" for each in mutants_in(folder, code)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a < b", ["comparison: a < b -> a <= b"]),
        ("return a is None", ["comparison: a is None -> a is not None"]),
        ("return a not in b", ["comparison: a not in b -> a in b"]),
        (
            "return a <= b < c",
            ["comparison: a <= b < c -> a < b < c", "comparison: a <= b < c -> a <= b <= c"],
        ),
        ("return (a + b) * c", ["arithmetic: (a + b) * c -> (a + b) + c", "arithmetic: a + b -> a - b"]),
        ("return a // b", ["arithmetic: a // b -> a * b"]),
        ("return -a", ["arithmetic: -a -> a"]),
        ("return a and b and c", ["logic: a and b and c -> a or b or c"]),
        ("return not a", ["logic: not a -> not not a"]),
        ("return a & ~b", ["logic: a & ~b -> a | ~b", "logic: ~b -> b"]),
        ("return 1", ["constant: 1 -> 0"]),
        ("return True", ["constant: True -> False"]),
        ("if known(x): return y", ["condition: known(x) -> False"]),
        ("return a if p else b", ["condition: p -> False", "condition: p -> True"]),
        ("f(x)", ["deletion: f(x) -> "]),
        ("x = f(x)", ["deletion: x = f(x) -> "]),
        ("y = f(x)", []),
        ("x += y", ["deletion: x += y -> ", "arithmetic: y -> -(y)"]),
        ("return x.contiguous()", ["layout: x.contiguous() -> x"]),
        ("return x.clone()", ["alias: x.clone() -> x"]),
        ("return x.expand_as(y)", ["expansion: x.expand_as(y) -> x"]),
        ("return x.sum_to_size(s)", ["gradient: x.sum_to_size(s) -> x"]),
        ("return x.size(i)", ["stride for size: x.size(i) -> x.stride(i)"]),
        ("return x.shape", ["stride for size: x.shape -> x.stride()"]),
        ("return x.stride(i)", ["size for stride: x.stride(i) -> x.size(i)"]),
        (
            "return torch.zeros(s, dtype=d)",
            ["unwritten memory: torch.zeros(s, dtype=d) -> torch.empty(s, dtype=d)"],
        ),
        ("return x.float()", ["accumulator: x.float() -> x"]),
        ("return x.to(torch.float32)", ["accumulator: x.to(torch.float32) -> x"]),
        ("return x.to(torch.float16)", []),
        ("return x.sum(i, dtype=torch.float64)", ["accumulator: x.sum(i, dtype=torch.float64) -> x.sum(i)"]),
        ("return torch.where(c, a, b)", ["swapped arguments: torch.where(c, a, b) -> torch.where(c, b, a)"]),
        (
            "ctx.save_for_backward(a, b)",
            [
                "deletion: ctx.save_for_backward(a, b) -> ",
                "swapped arguments: ctx.save_for_backward(a, b) -> ctx.save_for_backward(b, a)",
            ],
        ),
        ("with torch.cuda.device(d): return x", ["guard: torch.cuda.device(d) -> "]),
        (
            "return torch.cuda.current_stream()",
            ["stream: torch.cuda.current_stream() -> torch.cuda.default_stream()"],
        ),
        ("return triton.cdiv(n, b)", ["tail: triton.cdiv(n, b) -> n // b"]),
        ("return f(a,  # a comment\n    b < c)", ["comparison: b < c -> b <= c"]),
        ("return (a <  # a comment\n    b)", ["comparison: a <  # a comment\n    b -> a <= b"]),
    ],
)
def test_a_body_has_these_mutants(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert changes_in(tmp_path, f"def f(x):\n  {body}\n") == expected


def test_a_new_tensor_gets_the_strides_of_a_transposed_one(tmp_path: Path) -> None:
    assert changes_in(tmp_path, "def f(x):\n  return x.new_empty(s)\n") == [
        "strides: x.new_empty(s) -> x.new_empty(s), with the strides of a transposed tensor"
    ]


def test_parameters_of_one_annotated_type_are_exchanged(tmp_path: Path) -> None:
    code = "def f(a: T, b: T, n: int):\n  return g(n, a, b)\n"
    assert changes_in(tmp_path, code) == ["swapped arguments: g(n, a, b) -> g(n, b, a)"]


@pytest.mark.parametrize(
    "code",
    [
        "SIZE = 3 + 4\n",
        '"""Text of 1 module."""\n',
        'def f():\n  """Returns a + b."""\n',
        "def f(n: int = 3 + 4) -> Array[1 + 2]:\n  pass\n",
        "@decorated(1 + 2)\ndef f():\n  pass\n",
        "@opgate.spec('ns::op')\ndef f(spec):\n  spec.accuracy(opgate.ulps(3))\n",
        "@torch.jit.script\ndef f(a, b):\n  return a + b\n",
        "def f(x):\n  raise ValueError(f'{x + 1}', 3)\n",
        "def f(x):\n  assert x, 1 + 2\n",
        "def f(x):\n  return f'{x + 1}'\n",
        "def f(x):\n  return 'a' + x\n",
        "def f(x):\n  return g[grid](x, num_warps=4)\n",
        "def f(x):\n  return ctx.shape\n",
        "class C:\n  size = 3 + 4\n",
        "@triton.jit\ndef f(x, B: tl.constexpr = 3):\n  pass\n",
        "import triton\n@triton.jit\ndef f(x):\n  size: tl.constexpr = 3 + 4\n",
        "import triton\n@triton.constexpr_function\ndef f(x):\n  return x + 1\n",
        "import triton\n@triton.jit\ndef f(x):\n  y = tl.static_assert(x == 1, 'one')\n",
    ],
)
def test_what_no_call_computes_has_no_mutants(tmp_path: Path, code: str) -> None:
    assert changes_in(tmp_path, code) == []


def test_the_text_of_a_refusal_has_no_mutants_and_its_condition_has(tmp_path: Path) -> None:
    code = 'def f():\n  torch._check(a < b, lambda: f"a must be below {b + 1}")\n'
    assert changes_in(tmp_path, code) == [
        'deletion: torch._check(a < b, lambda: f"a must be below {b + 1}") -> ',
        "comparison: a < b -> a <= b",
    ]


def test_a_mutant_knows_its_function_and_place(tmp_path: Path) -> None:
    code = "class Cubed:\n  @staticmethod\n  def forward(ctx, x):\n    return [g(y < 2) for y in x]\n"
    first = mutants_in(tmp_path, code)[0]
    assert (first.place.function, first.place.line, first.place.column) == ("Cubed.forward", 4, 15)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "y = tl.load(p, mask=m, other=0.0)",
            [
                "mask: tl.load(p, mask=m, other=0.0) -> tl.load(p)",
                "other: tl.load(p, mask=m, other=0.0) -> tl.load(p, mask=m, other=0.0 + 1)",
            ],
        ),
        ("y = tl.load(p, m, z)", ["mask: tl.load(p, m, z) -> tl.load(p)"]),
        ("y = tl.load(p)", []),
        (
            "tl.store(p, y, mask=m)",
            ["deletion: tl.store(p, y, mask=m) -> ", "mask: tl.store(p, y, mask=m) -> tl.store(p, y)"],
        ),
        ("y = tl.program_id(0)", ["axis: 0 -> 1"]),
        ("y = tl.program_id(axis=2)", ["axis: 2 -> 0"]),
        (
            "tl.atomic_add(p, y, mask=m)",
            [
                "deletion: tl.atomic_add(p, y, mask=m) -> ",
                "atomic: tl.atomic_add(p, y, mask=m) -> tl.store(p, tl.load(p, mask=m) + (y), mask=m)",
            ],
        ),
        ("y = x.to(tl.float32)", ["accumulator: x.to(tl.float32) -> x"]),
        ("y = tl.where(c, a, b)", ["swapped arguments: tl.where(c, a, b) -> tl.where(c, b, a)"]),
        ("y = tl.cdiv(n, B)", ["tail: tl.cdiv(n, B) -> n // B"]),
        ("y = x.shape", []),
    ],
)
@pytest.mark.parametrize("made", ["@triton.jit", "jit = functools.partial(triton.jit)\n@jit"])
def test_a_kernel_has_these_mutants(tmp_path: Path, made: str, body: str, expected: list[str]) -> None:
    head = "import triton\nimport triton.language as tl\n"
    assert changes_in(tmp_path, f"{head}{made}\ndef f(x, B: tl.constexpr):\n  {body}\n") == expected


def test_a_sum_in_a_kernel_is_rounded_to_a_narrower_type(tmp_path: Path) -> None:
    code = "import triton\nimport triton.language as tl\n@triton.jit\ndef f(x):\n  s += x\n"
    (tmp_path / "source.py").write_text(code)
    source = read(tmp_path, "source.py")
    assert [each.kind for each in source.mutants] == ["deletion", "accumulator", "arithmetic"]
    code_of_kernel = "def f(x):\n  s = (s + (x)).to(tl.bfloat16).to(s.dtype)\n"
    assert kernels(source, [2]) == {3: {2: code_of_kernel}}
    assert instrumented(source, [1, 2, 3]) == code.encode(), "Triton compiles it as it was"


MODULE = '''"""Sums."""
from __future__ import annotations


def sum_below(x, n, most):
    """The sum of what lies before `most`."""
    total = 0.0
    for i in range(n):
        if i >= most:
            break
        total += x[i] * (2 if i == 0 else
                         1)
    return total


never = lambda a: a + 7
'''

PROGRAM = """
import sys
from opgate.mutation import running
running.install()
import sums
running.demand_right_modules()
running.choose(int(sys.argv[1]))
print(sums.sum_below([1, 2, 4, 8], 3, 2))
print(*running.take_reached())
print(sums.__file__)
"""


def prepared(folder: Path, code: str, name: str = "sums") -> tuple[list[Mutant], dict[str, str]]:
    """A project that has this module, with all mutants; what a process needs to run them."""
    (folder / "project").mkdir()
    (folder / "project" / f"{name}.py").write_text(code)
    request = Build(
        folder / "project",
        folder / "project" / "opgate.toml",
        folder / "copy",
        folder / "mutated",
        [f"{name}.py"],
        "false",
        folder / "log",
        {},
        print,
    )
    built = build(request, lambda mutants: mutants)
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = built.environment | {"PYTHONPATH": f"{folder / 'project'}{os.pathsep}{path}"}
    return built.mutants, environment


def printed(environment: dict[str, str], program: str, number: int) -> subprocess.CompletedProcess[str]:
    """What a program prints while this mutant runs."""
    words = [sys.executable, "-c", program, str(number)]
    return subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, check=False)


def test_one_module_has_all_mutants_behind_switches(tmp_path: Path) -> None:
    mutants, environment = prepared(tmp_path, MODULE)

    def lines(number: int) -> list[str]:
        run = printed(environment, PROGRAM, number)
        assert run.returncode == 0, run
        return run.stdout.splitlines()

    by_code = {(each.original, each.mutated): each for each in mutants}
    term = "x[i] * (2 if i == 0 else\n                         1)"
    assert lines(0) == ["4.0", "", str(tmp_path / "project" / "sums.py")]
    assert lines(by_code["i >= most", "i > most"].number)[0] == "8.0"
    assert lines(by_code["i == 0", "True"].number)[0] == "6.0"
    assert lines(by_code[term, "-(x[i] * (2 if i == 0 else 1))"].number)[0] == "-4.0"
    reached = {int(number) for number in lines(-1)[1].split()}
    assert reached == {each.number for each in mutants} - {
        by_code["a + 7", "a - 7"].number,
        by_code["7", "8"].number,
    }


def test_a_copy_of_a_module_has_the_mutants_and_an_older_one_is_reported(tmp_path: Path) -> None:
    mutants, environment = prepared(tmp_path, MODULE)
    installed = tmp_path / "installed"
    installed.mkdir()
    environment["PYTHONPATH"] = f"{installed}{os.pathsep}{environment['PYTHONPATH']}"
    (installed / "sums.py").write_text(MODULE)
    run = printed(environment, PROGRAM, -1)
    assert len(run.stdout.splitlines()[1].split()) == len(mutants) - 2, run
    (installed / "sums.py").write_text(MODULE + "# older\n")
    run = printed(environment, PROGRAM, -1)
    assert run.returncode != 0
    assert f"sums was loaded from {installed / 'sums.py'}, which is not the file" in run.stderr


def test_another_module_of_the_same_name_is_not_accused(tmp_path: Path) -> None:
    _, environment = prepared(tmp_path, MODULE)
    installed = tmp_path / "installed"
    installed.mkdir()
    environment["PYTHONPATH"] = f"{installed}{os.pathsep}{environment['PYTHONPATH']}"
    (installed / "sums.py").write_text("def sum_of_squares(x): return 0\nsum_above = sum_of_squares\n")
    program = PROGRAM.replace("sums.sum_below([1, 2, 4, 8], 3, 2)", "sums.sum_above(1)")
    assert printed(environment, program, -1).returncode == 0


KERNELS = '''
import functools

import triton
import triton.language as tl

compiled = functools.partial(triton.jit, do_not_specialize=["n"])


@triton.jit
def inner(x, n):
    """Calls nothing."""
    return tl.load(x, mask=n > 0)


@compiled
def outer(x, n):
    tl.store(x, inner(x, n))


@triton.jit
def other(x):
    tl.store(x, tl.program_id(0))
'''

KERNEL_PROGRAM = """
import sys
from types import SimpleNamespace
from opgate.mutation import running
running.install()
import kernels
running.demand_right_modules()
key = kernels.outer.cache_key
running.choose(int(sys.argv[1]))
print("the same" if key == kernels.outer.cache_key else "another")
print(key, kernels.other.cache_key)
print(kernels.inner.src.count("mask"), kernels.other.src.count("program_id((1))"))
found = running._kernels.called_by([kernels.outer])
print(*(each.__name__ for each in found))
print(*sorted({n for each in found for n in running._finder.kernel_of(each)}))
"""


def test_triton_compiles_the_chosen_mutant_of_a_kernel_under_another_key(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    mutants, environment = prepared(tmp_path, KERNELS, "kernels")
    by_kind = {each.kind: each.number for each in mutants}
    of_outer = [each.number for each in mutants if each.place.function in ("inner", "outer")]

    def lines(number: int) -> list[str]:
        run = printed(environment, KERNEL_PROGRAM, number)
        assert run.returncode == 0, run
        return run.stdout.splitlines()

    same, keys, *others = lines(0)
    assert (same, others) == ("the same", ["1 0", "outer inner", " ".join(map(str, of_outer))])
    changed, _, counts, *_ = lines(by_kind["mask"])
    assert (changed, counts) == ("another", "0 0")
    changed, _, counts, *_ = lines(by_kind["axis"])
    assert (changed, counts) == ("the same", "1 1")
    # Without a mutant, Triton compiles the very kernels that it compiles without `opgate mutate`.
    program = "import kernels\nprint(kernels.outer.cache_key, kernels.other.cache_key)\n"
    original = printed({"PYTHONPATH": environment["PYTHONPATH"]}, program, 0)
    assert original.stdout.split() == keys.split(), original


def test_a_kernel_that_is_not_recognised_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    (tmp_path / "makers.py").write_text("import triton\nmake = triton.jit\n")
    code = "from makers import make\n@make\ndef kernel(x):\n    x + 1\n    return x + 1\n"
    _, environment = prepared(tmp_path, code, "kernels")
    environment["PYTHONPATH"] += f"{os.pathsep}{tmp_path}"
    run = printed(environment, KERNEL_PROGRAM, 0)
    assert "Triton compiles kernel, though none of its decorators" in run.stderr, run


def test_a_source_is_described_for_the_workers(tmp_path: Path) -> None:
    mutants, environment = prepared(tmp_path, MODULE)
    table = json.loads(Path(environment["OPGATE_PYTHON_MUTANTS"]).read_text())
    (source,) = table["sources"]
    assert (source["name"], source["functions"], source["kernels"]) == ("sums", ["sum_below"], {})
    assert len(mutants) > 5
