"""What an operator uses up (time, memory, processes) costs its own cases; the reason says which limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Compiler, Completed, OpGate, Results, complaints, read_results

# Each goes wrong on a stepped tensor only. A fork that succeeded would abort, and no child goes on.
LIBRARY = """
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>
#include <unistd.h>
#include <cstdlib>
#include <thread>
#include <vector>

using at::Tensor;
namespace {
constexpr int64_t kTooMuch = int64_t{1} << 35;
bool stepped(const Tensor& x) { return x.dim() == 1 && x.size(0) > 1 && x.stride(0) == 2; }
void try_to_fork() {
  const pid_t child = fork();
  if (child == 0) std::_Exit(0);
  if (child > 0) std::abort();
}
Tensor fine(const Tensor& x) { return x.clone(); }
Tensor bombs(const Tensor& x) {
  while (stepped(x)) try_to_fork();
  return x.clone();
}
Tensor starts_a_program(const Tensor& x) {
  if (stepped(x)) TORCH_CHECK(std::system("true") == 0, "true could not be started");
  return x.clone();
}
Tensor uses_threads(const Tensor& x) {
  Tensor result;
  std::thread([&] { result = x.clone(); }).join();
  at::parallel_for(0, 8, 1, [](int64_t, int64_t) {});
  return result;
}
Tensor hangs(const Tensor& x) {
  while (stepped(x)) sleep(1);
  return x.clone();
}
Tensor hoards(const Tensor& x) {
  if (stepped(x)) at::empty({kTooMuch}, at::kByte).fill_(1);
  return x.clone();
}
void hoard() noexcept { std::vector<char>(kTooMuch, 1); }
Tensor hoards_and_dies(const Tensor& x) {
  if (stepped(x)) hoard();
  return x.clone();
}
#define OPERATOR(name) \\
  m.def(#name "(Tensor x) -> Tensor"); \\
  m.impl(#name, torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(name))); \\
  m.impl(#name, torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(fine)));
TORCH_LIBRARY(greedy, m) {
  OPERATOR(fine) OPERATOR(bombs) OPERATOR(starts_a_program) OPERATOR(uses_threads) OPERATOR(hangs)
  OPERATOR(hoards) OPERATOR(hoards_and_dies)
}
}
"""
OPS = ["fine", "bombs", "starts_a_program", "uses_threads", "hangs", "hoards", "hoards_and_dies"]
SPECS = """
#include <ATen/ops/clone.h>
#include <opgate/spec.h>
using namespace opgate;
static void promise(SpecWriter& spec) {
  spec.dtypes(c10::kCPU, {c10::kFloat});
  spec.reference([](const at::Tensor& x) { return x.clone(); });
  spec.accuracy(exact());
  spec.sample({uniform({7})});
}
""" + "".join(f'OPGATE_SPEC("greedy::{op}", spec) {{ promise(spec); }}\n' for op in OPS)


@pytest.fixture(scope="module")
def project(compiler: Compiler, new_project: Callable[..., Path]) -> Path:
    folder = new_project(libraries=["./libgreedy.so"], specs=["./libgreedy_specs.so"])
    compiler(LIBRARY, folder / "libgreedy.so")
    compiler(SPECS, folder / "libgreedy_specs.so", spec=True)
    return folder


@pytest.fixture(scope="module")
def finished(opgate: OpGate, project: Path) -> Completed:
    """One run over all of them, two seconds and 3 GiB a case."""
    limits = ["--time-limit", "2", "--memory-limit", "3"]
    return opgate("run", "--check", "value.layout", *limits, folder=project)


@pytest.fixture(scope="module")
def results(finished: Completed, project: Path) -> Results:
    assert (finished.returncode, complaints(finished)) == (1, [])
    return read_results(project / ".opgate")


def test_it_costs_the_case_alone(results: Results) -> None:
    broken = {case for case, line in results.cases.items() if line["verdict"] != "pass"}
    greedy = set(OPS) - {"fine", "uses_threads"}
    assert broken == {f"{op}/float32/7/x=stepped/cpu/value.layout" for op in greedy}


def stepped(results: Results, op: str) -> dict[str, str]:
    """What was said of the one case that goes wrong."""
    return results.cases[f"{op}/float32/7/x=stepped/cpu/value.layout"]


@pytest.mark.parametrize("op", ["bombs", "hangs"])
def test_a_fork_bomb_starts_nothing_and_ends_as_a_hang_does(op: str, results: Results) -> None:
    line = stepped(results, op)
    assert line["verdict"] == "timeout"
    assert "no answer for 2 s, which is the limit (--time-limit)" in line["reason"]


def test_a_program_cannot_be_started(results: Results) -> None:
    line = stepped(results, "starts_a_program")
    assert line["verdict"] == "fail"
    assert "true could not be started" in line["happened"]


def test_threads_can_be_started(results: Results) -> None:
    assert {line["verdict"] for line in results.of("uses_threads").values()} == {"pass"}


@pytest.mark.parametrize(("op", "verdict"), [("hoards", "fail"), ("hoards_and_dies", "crash")])
def test_memory_beyond_the_limit_is_named(op: str, verdict: str, results: Results) -> None:
    line = stepped(results, op)
    assert line["verdict"] == verdict
    assert "memory limit of 3.0 GiB (--memory-limit)" in line["reason"]


@pytest.mark.parametrize(
    "words",
    [
        ["--time-limit", "0"],
        ["--time-limit", "x"],
        ["--memory-limit", "0.5"],
        ["--memory-limit", "-1"],
        ["--jobs", "0"],
        ["--jobs", "-2"],
        ["--jobs", "many"],
    ],
    ids=" ".join,
)
def test_an_impossible_limit_is_wrong_usage(words: list[str], opgate: OpGate, project: Path) -> None:
    result = opgate("run", *words, folder=project)
    assert (result.returncode, result.stdout) == (2, "")
    assert words[0] in result.stderr
    assert "see opgate --help" in result.stderr
