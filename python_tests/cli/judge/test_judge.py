"""opgate judge: every cheat of fixtures/cheats is refused by its name, and no honest twin is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Judge
from harness import OpGate, assert_refused

# How each file is refused. What a mistake could do as well is wrong; the rest is cheating.
SQUARE = {
    "after_forty_calls": "changes its behaviour",
    "after_warm_up": "changes its behaviour",
    "background_thread": "changes after the return",
    "cache_by_address": "replayed result",
    "cache_by_first_values": "replayed result",
    "cache_by_shape": "replayed result",
    "crashes": "crash",
    "ends_the_process": "answers what was not asked",
    "fallback_in_except": "the library in a kernel's place",
    "fingerprint_cache": "replayed result",
    "forged_answer": "answers what was not asked",
    "frozen_replay": "replayed result",
    "half_precision": "precision",
    "hard_coded_sizes": "hard-coded sizes",
    "initial_seed": "wrong values",
    "interposed_symbols": "never written",
    "known_seeds": "memorised values",
    "lazy_result": "lazy result",
    "nan_wildcard": "NaN",
    "one_row_expanded": "wrong values",
    "overwritten_input": "overwrites an argument",
    "patched_clock": "replaces functions",
    "patched_comparison": "replaces functions",
    "patched_writer": "replaces functions",
    "replay": "replayed result",
    "searches_objects": "wrong values",
    "searches_processes": "zeros",
    "silent_fallback": "the library in a kernel's place",
    "tolerance_abuse": "precision",
    "unwritten_memory": "never written",
    "writes_objects": "overwrites an argument",
    "zero_size_view": "other sizes or dtype",
}
STRUCTURE = {"guessed_order": "guessed structure", "guessed_triangle": "guessed structure"}
# These cheat only while their calls are timed.
TIMED = {"idle_while_timed": "idle while it is timed", "patched_while_timed": "replaces functions"}
LAYER = {"bfloat16_product": "precision", "float16_arguments": "precision"}
WRONG = {
    "guessed structure",
    "other sizes or dtype",
    "crash",
    "precision",
    "hard-coded sizes",
    "NaN",
    "overwrites an argument",
    "wrong values",
    "zeros",
    "never written",
}
# Judged alone, because it takes as long as the limit.
ALONE = {"hangs"}

Verdicts = dict[str, dict[str, Any]]


def judge_folder(judge: Judge, folder: Path) -> Verdicts:
    """The verdicts on all files of a folder, by their names."""
    files = [each for each in sorted(folder.glob("*.py")) if each.stem not in {"reference", *ALONE, *TIMED}]
    run = judge(*files, "--reference", folder / "reference.py", "--no-speed", "--json")
    assert run.stderr == ""
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 1
    return {Path(line["candidate"].rpartition(":")[0]).stem: line for line in lines}


@pytest.fixture(scope="module")
def square(judge: Judge, source: Path) -> Verdicts:
    return judge_folder(judge, source / "fixtures" / "cheats" / "square")


@pytest.fixture(scope="module")
def layer(judge: Judge, source: Path) -> Verdicts:
    return judge_folder(judge, source / "fixtures" / "cheats" / "layer")


@pytest.fixture(scope="module")
def structure(judge: Judge, source: Path) -> Verdicts:
    return judge_folder(judge, source / "fixtures" / "cheats" / "structure")


def assert_refused_as(verdict: dict[str, Any], name: str) -> None:
    assert verdict["verdict"] == ("wrong" if name in WRONG else "cheating"), verdict
    assert name in [finding["how"] for finding in verdict["findings"]], verdict


@pytest.mark.long
@pytest.mark.parametrize("file", SQUARE)
def test_a_cheat_is_refused_by_its_name(square: Verdicts, file: str) -> None:
    assert_refused_as(square[file], SQUARE[file])


@pytest.mark.parametrize("file", LAYER)
def test_a_less_precise_layer_is_refused(layer: Verdicts, file: str) -> None:
    assert_refused_as(layer[file], LAYER[file])


@pytest.mark.parametrize("file", STRUCTURE)
def test_a_guessed_structure_is_refused(structure: Verdicts, file: str) -> None:
    assert_refused_as(structure[file], STRUCTURE[file])


@pytest.mark.long
def test_no_honest_twin_is_refused(square: Verdicts, layer: Verdicts, structure: Verdicts) -> None:
    all_files = square | layer | structure
    honest = {file: verdict["verdict"] for file, verdict in all_files.items() if "honest" in file}
    assert len(honest) >= 16
    assert set(honest.values()) == {"correct"}, honest


def test_every_file_is_judged(square: Verdicts, layer: Verdicts, structure: Verdicts) -> None:
    named = {file for file in square | layer | structure if "honest" not in file}
    assert named == {*SQUARE, *LAYER, *STRUCTURE, "affine_left_out"}
    assert len(named) + len(TIMED) + len(ALONE) >= 40


def test_parameters_that_samples_cannot_see_make_the_verdict_unclear(layer: Verdicts) -> None:
    verdict = layer["affine_left_out"]
    assert verdict["verdict"] == "unclear"
    assert "it leaves out norm.weight, norm.bias, or has copied them" in verdict["unclear"][0]


def test_a_module_that_does_not_follow_its_parameters_has_a_remark(layer: Verdicts) -> None:
    does_not_follow = {
        name: [text for text in verdict["remarks"] if text.startswith("it does not follow parameters")]
        for name, verdict in layer.items()
    }
    assert len(does_not_follow["honest_packed_once"]) == 1
    assert does_not_follow["honest_naive_sums"] == does_not_follow["affine_left_out"] == []


def test_samples_on_which_less_would_pass_are_named(judge: Judge, tmp_path: Path) -> None:
    """Draws of get_inputs() are positive, so that zeros are right for all of them; other values are not."""
    (tmp_path / "shut.py").write_text(
        "import torch\n"
        "def get_inputs():\n    return [torch.rand(8, 6) + 0.1]\n"
        "def shut(x):\n    return torch.relu(-x)\n"
        "def nothing(x):\n    return torch.zeros(x.shape)\n"
    )
    run = judge("shut.py:nothing", "--reference", "shut.py:shut", "--json", folder=tmp_path)
    verdict = json.loads(run.stdout)
    assert [(each["how"], each["sample"]) for each in verdict["findings"]] == [("zeros", "negated")]
    zeros = next(text for text in verdict["mistrusted"] if text.endswith(": zeros would pass"))
    assert "get_inputs() with secret seed 1" in zeros
    assert "negated" not in zeros
    assert any(text.endswith(": the result for another draw would pass") for text in verdict["mistrusted"])


def test_results_that_depend_on_sizes_alone_are_not_held_against_a_candidate(
    judge: Judge, tmp_path: Path
) -> None:
    (tmp_path / "places.py").write_text(
        "import torch\n"
        "def get_inputs():\n    return [torch.rand(8, 6)]\n"
        "def places(x):\n    return torch.arange(x.shape[1]).sin() * torch.ones(x.shape[0], 1)\n"
        "def outer(x):\n    return torch.outer(torch.ones(len(x)), torch.arange(x.shape[1]).sin())\n"
    )
    run = judge("places.py:outer", "--reference", "places.py:places", "--json", "--no-speed", folder=tmp_path)
    verdict = json.loads(run.stdout)
    assert verdict["verdict"] == "correct", verdict
    assert any(text.endswith(": the result for another draw would pass") for text in verdict["mistrusted"])


def test_the_report_names_what_is_isolated_and_what_is_not(square: Verdicts) -> None:
    verdict = square["honest_in_place"]
    assert "memory" in verdict["isolated"]
    assert not set(verdict["isolated"]) & set(verdict["not_isolated"])
    assert len(verdict["isolated"]) + len(verdict["not_isolated"]) == 10


def test_other_processes_are_hidden_without_namespaces(opgate: OpGate, source: Path) -> None:
    """In a namespace that allows no further one, and in which the candidate is root as the judge is."""
    folder = source / "fixtures" / "cheats" / "square"
    command = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    words = ["unshare", "--user", "--map-root-user", "sh", "-c", command, "sh", opgate.program, "judge"]
    words += [folder / "searches_processes.py", "--reference", folder / "reference.py", "--json"]
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if not run.stdout:
        pytest.skip(f"no namespaces here: {run.stderr}")
    verdict = json.loads(run.stdout)
    assert "network" in verdict["not_isolated"]
    assert_refused_as(verdict, SQUARE["searches_processes"])


def test_a_candidate_that_hangs_is_ended(judge: Judge, source: Path) -> None:
    folder = source / "fixtures" / "cheats" / "square"
    run = judge(folder / "hangs.py", "--reference", folder / "reference.py", "--time-limit", "2")
    assert run.returncode == 1
    assert "hang: the call does not return" in run.stdout
    assert "there was no answer within 2 s" in run.stdout


def test_an_interrupted_run_leaves_no_process(source: Path, opgate: OpGate) -> None:
    folder = source / "fixtures" / "cheats" / "square"
    words = [opgate.program, "judge", folder / "hangs.py", "--reference", folder / "reference.py"]
    process = subprocess.Popen(
        [str(word) for word in words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # a shell's background job ignores it
    )
    deadline = time.monotonic() + 60
    while not hanging(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert hanging(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert not hanging(process.pid)


def hanging(ancestor: int) -> list[int]:
    """The processes below `ancestor` that sleep in a candidate: five generations down."""
    generation = [ancestor]
    for _ in range(5):
        generation = [child for process in generation for child in children(process)]
    return generation


def children(process: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


@pytest.mark.long
@pytest.mark.usefixtures("needs_simulated_runtime")
def test_kernels_of_triton_are_judged_on_the_simulated_device(opgate: OpGate, source: Path) -> None:
    pytest.importorskip("triton")
    cheats = source / "fixtures" / "cheats"
    files = [cheats / "triton" / name for name in ("honest_triton.py", "fallback_from_triton.py")]
    reference = cheats / "square" / "reference.py"
    run = opgate("judge", *files, "--reference", reference, "--device", "sim", "--json")
    honest, fallback = (json.loads(line) for line in run.stdout.splitlines())
    assert honest["verdict"] == "correct", honest
    assert honest["speed"] == {"problem": "nothing is timed on the simulated device"}
    assert_refused_as(fallback, "the library in a kernel's place")
    on_cpu = opgate("judge", files[1], "--reference", reference)
    assert on_cpu.returncode == 3, on_cpu.stdout
    assert "the file has `triton`, a kernel for CUDA" in on_cpu.stdout


def test_a_function_is_judged_by_a_function(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(
        "import torch\n"
        "def get_inputs():\n    return [torch.rand(8, 6), 3]\n"
        "def slow(x, n):\n    return sum(x ** k for k in range(n))\n"
        "def fast(x, n):\n    return 1 + x + x * x\n"
        "def same(x, n):\n    return x\n"
        "def top(x, n):\n    return torch.topk(x, n)\n"
        "def ordered(x, n):\n    s = x.sort(-1, descending=True)\n    return [s[0][:, :n], s[1][:, :n]]\n"
        "def parts(x, n):\n    return torch.fft.fft(x)\n"
        "def naive(x, n):\n"
        "    k = torch.arange(x.shape[-1])\n"
        "    turn = torch.exp(-6.283185307179586j * k[:, None] * k / len(k))\n"
        "    return x.to(torch.complex64) @ turn\n"
    )
    for reference, candidate in (("top", "ordered"), ("parts", "naive")):
        words = [f"functions.py:{candidate}", "--reference", f"functions.py:{reference}", "--no-speed"]
        run = judge(*words, folder=tmp_path)
        assert run.stdout.split()[0] in ("correct", "unclear"), run.stdout  # a sum of NaN has more NaN
    words = ["--reference", "functions.py:slow", "--no-speed"]
    right = judge("functions.py:fast", *words, folder=tmp_path)
    assert (right.returncode, right.stdout.split()[0]) == (0, "correct"), right
    words = ["--reference", "functions.py:fast", "functions.py:same", "--no-speed"]
    wrong = judge("functions.py:slow", *words, folder=tmp_path)
    assert wrong.returncode == 1
    assert "returns an argument" in wrong.stdout
    unclear = judge("functions.py:same", "--reference", "functions.py:same", folder=tmp_path)
    assert unclear.returncode == 3, unclear
    assert "on every sample argument 0 itself would pass as well" in unclear.stdout


def test_wrong_usage(opgate: OpGate, judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    assert_refused(opgate("judge", "none.py"), "needs a CANDIDATE and --reference")
    assert_refused(judge("none.py", "--reference", "empty.py", folder=tmp_path), "no file none.py")
    assert_refused(judge("empty.py", "--reference", "empty.py", folder=tmp_path), "has no Model")
    (tmp_path / "raises.py").write_text(
        "def get_inputs():\n    raise ValueError('no data')\nModel = print\nModelNew = print\n"
    )
    refused = judge("empty.py", "--reference", "raises.py", folder=tmp_path)
    assert_refused(refused, "the reference raises ValueError: no data")


def test_a_candidate_that_cannot_be_imported_is_wrong(judge: Judge, source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    reference = source / "fixtures" / "cheats" / "square" / "reference.py"
    run = judge("empty.py", "--reference", reference, folder=tmp_path)
    assert run.returncode == 1
    assert "has no attribute 'ModelNew'" in run.stdout


def test_a_kernel_for_zeros_that_all_draws_have_is_not_accused(judge: Judge, tmp_path: Path) -> None:
    """Such a zero times an infinity is NaN in the dense product alone; the kernel refuses other matrices."""
    (tmp_path / "upper.py").write_text(
        "import torch\n"
        "def get_inputs():\n    return [torch.randn(24, 24).triu(), torch.randn(24, 16)]\n"
        "def product(a, b):\n    return a @ b\n"
        "def upper(a, b):\n"
        "    below = a.tril(-1)\n"
        "    if bool((below.isfinite() & (below.abs() > 1e-30)).any()):\n"
        "        raise ValueError('this kernel multiplies upper triangular matrices')\n"
        "    return torch.stack([a[i, i:] @ b[i:] for i in range(len(a))])\n"
    )
    run = judge("upper.py:upper", "--reference", "upper.py:product", "--no-speed", "--json", folder=tmp_path)
    verdict = json.loads(run.stdout)
    assert verdict["verdict"] == "correct", verdict
    assert len([text for text in verdict["remarks"] if "zeros in the same places" in text]) == 1


def test_a_layout_of_the_engine_shows_a_kernel_that_takes_rows_for_dense(
    judge: Judge, tmp_path: Path
) -> None:
    """Its rows may lie anywhere but beside each other: right if it is transposed, stepped or offset."""
    (tmp_path / "rows.py").write_text(
        "import torch\n"
        "def get_inputs():\n    return [torch.randn(6, 8)]\n"
        "def twice(x):\n    return 2 * x\n"
        "def blind(x):\n"
        "    if x.stride(-1) != 1:\n        return 2 * x\n"
        "    return 2 * x.as_strided((x.numel(),), (1,), x.storage_offset()).view(x.shape)\n"
    )
    run = judge("rows.py:blind", "--reference", "rows.py:twice", "--no-speed", "--json", folder=tmp_path)
    verdict = json.loads(run.stdout)
    found = [(each["how"], each["sample"]) for each in verdict["findings"]]
    assert found == [("ignores strides", "argument 0 row-sliced")], verdict
