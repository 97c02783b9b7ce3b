"""Which mutants a source has, and that the source with all of them still does what it did."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter_cuda")

from opgate.mutation.build import read
from opgate.mutation.cpp.language import HEADER, HEADER_NAME, instrumented


def mutants_of(folder: Path, code: str) -> list[tuple[str, str, str]]:
    """The kinds, originals and mutants of the body of a function."""
    (folder / "source.cpp").write_text(code)
    mutants = read(folder, "source.cpp").mutants
    return [(each.kind, each.original, each.mutated) for each in mutants]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a < b;", [("comparison", "a < b", "a <= b")]),
        ("return a == b;", [("comparison", "a == b", "a != b")]),
        ("return a * b;", [("arithmetic", "a * b", "a + b")]),
        ("return p && !q;", [("logic", "p && !q", "p || !q"), ("logic", "!q", "!!(q)")]),
        ("return 1;", [("constant", "1", "0")]),
        ("return true;", [("constant", "true", "false")]),
        ("if (known(x)) return y;", [("condition", "known(x)", "false")]),
        ("return p ? a : b;", [("condition", "p", "false"), ("condition", "p", "true")]),
        ("__syncthreads();", [("deletion", "__syncthreads();", "")]),
        ("return x.contiguous();", [("layout", "x.contiguous()", "x")]),
        ("return x.size(i);", [("stride for size", "x.size(i)", "x.stride(i)")]),
        ("return list.size();", []),
        ("return x.clone();", [("alias", "x.clone()", "x")]),
        ("return at::zeros(s, o);", [("unwritten memory", "at::zeros(s, o)", "at::empty(s, o)")]),
        (
            "k<<<n, 64, 0, s>>>(0);",
            [
                ("deletion", "k<<<n, 64, 0, s>>>(0);", ""),
                ("constant", "64", "65"),
                ("constant", "0", "1"),
            ],
        ),
        (
            "return at::cuda::getCurrentCUDAStream();",
            [("stream", "at::cuda::getCurrentCUDAStream()", "at::cuda::getDefaultCUDAStream()")],
        ),
        (
            "const c10::cuda::CUDAGuard guard(x.device());",
            [
                ("guard", "const c10::cuda::CUDAGuard guard(x.device());", ""),
            ],
        ),
    ],
)
def test_a_body_has_these_mutants(tmp_path: Path, body: str, expected: list[tuple[str, str, str]]) -> None:
    assert mutants_of(tmp_path, f"auto f() {{\n  {body}\n}}\n") == expected


@pytest.mark.parametrize(
    "code",
    [
        "constexpr int kSize = 3 + 4;",
        "void f() { constexpr int size = 3 + 4; }",
        "void f() { static_assert(1 < 2); }",
        "void f() { int numbers[4 + 4]; }",
        "auto f() { return g<2 + 2>(); }",
        "void f() { if constexpr (a < b) {} }",
        "TORCH_LIBRARY(mine, m) { m.def(text); }",
        "#define SMALL(x) ((x) < 3)\nvoid f() {}",
    ],
)
def test_what_the_compiler_decides_has_no_mutants(tmp_path: Path, code: str) -> None:
    assert mutants_of(tmp_path, code) == []


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("return a < b ? a : b;", {"condition"}),
        ("return (x < 0 ? 0 : x) + y;", {"condition", "constant", "arithmetic"}),
        ("return (a >= b) ? b : a;", {"condition"}),
        ("return a == b ? a : b;", {"condition", "comparison"}),
        ("return a < b ? a : c;", {"condition", "comparison"}),
        ("return c ? a < b : b < a;", {"condition", "comparison"}),
    ],
)
def test_the_bound_of_a_minimum_has_no_mutants(tmp_path: Path, body: str, kinds: set[str]) -> None:
    assert {kind for kind, *_ in mutants_of(tmp_path, f"auto f() {{\n  {body}\n}}\n")} == kinds


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("void f() { for (int i = 0; i < 4; ++i) __builtin_prefetch(p + 64 * i); }", []),
        ("void ask(T* p) { _mm_prefetch(p + 1, 2); }\nvoid f() { if (r + 1 < n) ask(p + 3); }", []),
        ("void f() { v.reserve(n * 2); }", []),
        ("void f() { at::parallel_for(0, 2 * n, n / c + 1, g); }", ["2 * n", "0", "2"]),
        ("int grain(int c) { return n / c; }\nvoid f() { at::parallel_for(0, n, grain(3), g); }", ["0"]),
        ("void f() { const int grain = n / c; at::parallel_for(0, n, grain, g); }", ["0"]),
        # What is computed from a grain as well, or done beside a hint, is no hint.
        ("void f() { const int n = a / c; at::parallel_for(0, n, n, g); }", ["a / c", "0"]),
        ("void f() { if (next() < n) { __builtin_prefetch(p); } }", ["next() < n", "next() < n"]),
        ("void ask(T* p) { __builtin_prefetch(p); *p = a + b; }", ["a + b"]),
    ],
)
def test_a_hint_has_no_mutants(tmp_path: Path, code: str, changed: list[str]) -> None:
    found = [original for kind, original, _ in mutants_of(tmp_path, code) if kind != "deletion"]
    assert sorted(found) == sorted(changed)


@pytest.mark.parametrize(
    ("code", "mutants"),
    [
        ("std::vector<T> v(2 * n); use(v.data(), v[i]);", [("2", "1")]),
        ("std::vector<T> v(static_cast<size_t>(n / 4)); v[i] = x;", [("4", "5")]),
        ("std::vector<T> v(p ? 0 : n); v[i] = x;", []),
        # The elements that are too many are seen, or set.
        ("std::vector<T> v(2 * n); use(v);", [("2", "3")]),
        ("std::vector<T> v(2 * n); for (T& each : v) use(each);", [("2", "3")]),
        ("std::vector<T> v(2 * n); use(v.data(), v.size());", [("2", "3")]),
        ("std::vector<T> v(n, 7); v[i] = x;", [("7", "8")]),
        ("T v(2 * n); v[i] = x;", [("2", "3")]),
    ],
)
def test_the_size_of_a_buffer_has_only_mutants_that_are_too_small(
    tmp_path: Path, code: str, mutants: list[tuple[str, str]]
) -> None:
    found = mutants_of(tmp_path, f"void f() {{ {code} }}")
    assert [change for kind, *change in found if kind in ("constant", "condition")] == [
        [*each] for each in mutants
    ]


def test_each_mutant_that_is_kept_as_equivalent_exists(source: Path) -> None:
    def in_one_line(code: str) -> str:
        return " ".join(code.split())

    kept = tomllib.loads((source / "fixtures" / "equivalent_mutants.toml").read_text())["equivalent"]
    existing = set()
    for file in {each["file"] for each in kept}:
        existing |= {
            (file, each.place.function, in_one_line(each.original), in_one_line(each.mutated))
            for each in read(source, file).mutants
        }
    assert [
        each
        for each in kept
        if (each["file"], each["function"], in_one_line(each["original"]), in_one_line(each["mutated"]))
        not in existing
    ] == []


def test_the_text_of_a_refusal_has_no_mutants_and_its_condition_has(tmp_path: Path) -> None:
    code = 'void f() { TORCH_CHECK(a < b, "a must be below ", b + 1); }'
    assert [(kind, original) for kind, original, _ in mutants_of(tmp_path, code)] == [
        ("deletion", 'TORCH_CHECK(a < b, "a must be below ", b + 1);'),
        ("comparison", "a < b"),
    ]


PROGRAM = """
#include <cstdio>
#include <cstdlib>

double sum_below(const double* x, int n, int most) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i >= most) break;
    sum += x[i] * (i == 0 ? 2 : 1);
  }
  return sum;
}

int main(int, char** words) {
  opgate_choose_mutant(std::atoi(words[1]));
  const double x[4] = {1, 2, 4, 8};
  std::printf("%g\\n", sum_below(x, 3, 2));
  if (std::atoi(words[1]) < 0) {
    int numbers[64];
    const int reached = opgate_reached_mutants(numbers, 64);
    for (int i = 0; i < reached; ++i) std::printf("%d ", numbers[i]);
  }
}
"""


def test_one_program_has_all_mutants_behind_switches(tmp_path: Path) -> None:
    (tmp_path / "source.cpp").write_text(PROGRAM)
    source = read(tmp_path, "source.cpp")
    mutants = [each for each in source.mutants if each.place.function.startswith("sum_below")]
    (tmp_path / HEADER_NAME).write_bytes(HEADER.read_bytes())
    everything = instrumented(source, [each.number for each in mutants])
    (tmp_path / "mutated.cpp").write_bytes(everything)
    subprocess.run(
        ["g++", "-std=c++20", "-Wno-parentheses", "mutated.cpp", "-o", "program"], cwd=tmp_path, check=True
    )

    def printed(number: int) -> list[str]:
        run = subprocess.run(
            ["./program", str(number)], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return run.stdout.splitlines()

    assert printed(0) == ["4"]
    by_code = {(each.original, each.mutated): each.number for each in mutants}
    assert printed(by_code["i >= most", "i > most"]) == ["8"]
    assert printed(by_code["i == 0", "true"]) == ["6"]
    assert printed(by_code["sum += x[i] * (i == 0 ? 2 : 1)", "sum -= x[i] * (i == 0 ? 2 : 1)"]) == ["-4"]
    reached = printed(-1)
    assert reached[0] == "4"
    assert {int(number) for number in reached[1].split()} <= {each.number for each in mutants}
    assert len(reached[1].split()) >= len(mutants) - 2
