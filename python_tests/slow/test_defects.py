"""The planted defects: each is convicted by the check it was planted for, and by none that is not named."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from harness import Completed, OpGate, Results, complaints, read_results

# Every check that convicts, the one it was planted for first; opcheck's own answer is among them.
CONVICTED_BY: dict[str, list[str]] = {
    "stride_blind": ["value.layout"],
    "gap_writer": ["effect.mutation"],
    "undeclared_dtype": ["value.dtype"],
    "lost_write_back": ["value.layout"],
    # AOTInductor compiles in the foretold strides, and the package asserts them when it runs.
    "other_fake_strides": ["fake.metadata", "opcheck", "aoti.cpp", "aoti.cross", "aoti.python"],
    # For contiguous input at an offset it returns that offset, which its fake kernel does not foresee.
    "returns_input": ["effect.alias", "fake.metadata", "opcheck"],
    "halve": [],
}
UNSEEN_BY_OPCHECK = ["stride_blind", "gap_writer", "undeclared_dtype", "lost_write_back"]


@pytest.fixture(scope="module")
def config(source: Path) -> Path:
    return source / "fixtures" / "defects" / "opgate.toml"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("defects")


@pytest.fixture(scope="module")
def finished(opgate: OpGate, config: Path, output: Path) -> Completed:
    """One run of every check over every planted defect."""
    return opgate("run", "--config", config, "--output", output, timeout=600)


@pytest.fixture(scope="module")
def results(finished: Completed, output: Path) -> Results:
    return read_results(output)


def finding(finished: Completed, check: str, op: str) -> str:
    """The paragraph about one check of one operator."""
    paragraphs = finished.stdout.split("\n\n")
    (found,) = [text for text in paragraphs if text.startswith(f"FAIL {check} · {op} · ")]
    return found


def test_the_run_fails_and_judges_every_case(finished: Completed, results: Results) -> None:
    assert finished.returncode == 1
    assert results.finished is not None
    assert len(results.cases) == results.header["cases"]
    assert {line["verdict"] for line in results.cases.values()} == {"pass", "fail"}


def test_every_planted_operator_is_known_here(results: Results, source: Path) -> None:
    planted = {file.parent.name for file in (source / "fixtures" / "defects").glob("*/op.cpp")}
    assert {case.split("/")[0] for case in results.cases} == set(CONVICTED_BY)
    assert planted | {"halve"} == set(CONVICTED_BY)


@pytest.mark.parametrize("op", CONVICTED_BY)
def test_a_defect_is_convicted_by_its_checks_and_by_no_other(op: str, results: Results) -> None:
    assert results.convicted(op) == set(CONVICTED_BY[op])


def test_the_correct_twin_is_judged_by_the_check_that_convicts_the_defect(results: Results) -> None:
    passed = [case for case, line in results.of("halve").items() if line["verdict"] == "pass"]
    assert any(case.endswith("/value.layout") for case in passed)
    assert any(case.endswith("/effect.mutation") and "row-sliced" in case for case in passed)


@pytest.mark.parametrize("op", CONVICTED_BY)
def test_opcheck_answers_as_measured(op: str, results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = [line["verdict"] for case, line in results.of(op).items() if case.endswith("/opcheck")]
    failed = verdicts.count("fail")
    with capsys.disabled():
        said = f"{failed} of {len(verdicts)} cases fail" if failed else "passes"
        ours = ", ".join(sorted(results.convicted(op) - {"opcheck"})) or "passes"
        print(f"\n{op:20} | opcheck: {said:22} | OpGate: {ours}", end="")
    assert verdicts
    assert (failed > 0) == ("opcheck" in CONVICTED_BY[op])


def test_most_defects_pass_opcheck_in_every_case(results: Results) -> None:
    passing = [op for op in CONVICTED_BY if CONVICTED_BY[op] and "opcheck" not in results.convicted(op)]
    assert passing == UNSEEN_BY_OPCHECK


def test_the_finding_tells_what_the_stride_blind_kernel_did(finished: Completed) -> None:
    text = finding(finished, "value.layout", "stride_blind")
    assert "promised   the same result whatever the layout of `x`" in text
    assert "`x` is read as if it were dense: its strides are ignored" in text
    assert re.search(r"\d+ of \d+ elements differ, the first at \[[\d, ]+\]: got \S+, want \S+", text)
    assert re.search(r"element \[[\d, ]+\] of the result was computed from ", text)
    assert "opgate explain value.layout" in text


@pytest.mark.parametrize("op", [op for op in CONVICTED_BY if CONVICTED_BY[op]])
def test_the_printed_command_reproduces_the_failure(
    op: str, finished: Completed, opgate: OpGate, config: Path, tmp_path: Path
) -> None:
    check = CONVICTED_BY[op][0]
    text = finding(finished, check, op)
    again = next(line for line in text.splitlines() if line.startswith("  again "))
    program, *words = shlex.split(again.removeprefix("  again "))
    assert (program, words[0]) == ("opgate", "repro")
    if "--config" not in words:
        words += ["--config", str(config)]
    repeated = opgate(*words, "--output", tmp_path)
    assert (repeated.returncode, complaints(repeated)) == (1, [])
    kept = [line for line in text.splitlines() if not line.startswith("  others ")]
    assert "\n".join(kept) in repeated.stdout


def test_the_finding_names_the_gap_that_was_written(finished: Completed) -> None:
    text = finding(finished, "effect.mutation", "gap_writer")
    assert re.search(
        r"storage elements were written, the first in the gap after x\[[\d, ]+\]: 0xa5a5 became", text
    )
    assert "memory between the elements of `x` belongs to another tensor" in text


def test_the_finding_names_the_input_that_was_returned(finished: Completed) -> None:
    text = finding(finished, "effect.alias", "returns_input")
    assert "the output is `x` itself or a view of it" in text
    assert "Tensor(a) x" in text


def test_the_finding_shows_both_strides(finished: Completed) -> None:
    text = finding(finished, "fake.metadata", "other_fake_strides")
    assert re.search(r"strides \[90, 30, 6, 1\], not \[90, 1, 18, 3\]", text)


def test_the_finding_names_the_dtype_that_slipped_through(finished: Completed) -> None:
    text = finding(finished, "value.dtype", "undeclared_dtype")
    assert "bool is accepted, and something is computed" in text
    assert "float16, bfloat16, float32, float64" in text
