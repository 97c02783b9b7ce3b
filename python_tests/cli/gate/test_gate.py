"""opgate gate refuses what is worse than the base and says why; opgate accept writes the accepted state."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from changes import Runs
from harness import Completed, OpGate, assert_refused

# What changed, and the rules that refuse it; their messages are in approved/gate.txt.
REFUSED = {
    "stride_blind": {"memory.bounds", "output.metadata", "value.index64", "value.layout"},
    "no_overload": {"case.lost"},
    "cpu_only": {"case.lost"},
    "composite": {"case.lost"},
    "float_only": {"case.lost", "promise.weakened", "value.dtype"},
    "fewer_samples": {"case.lost"},
    "renamed": {"case.lost", "schema.compatible"},
    "reordered": {"case.lost", "promise.weakened", "schema.compatible"},
    "retyped": {"case.lost", "promise.weakened", "schema.compatible"},
    "other_default": {"schema.compatible"},
    "demanding": {"case.lost", "promise.weakened", "schema.compatible"},
    "columns": {"output.metadata"},
    "inaccurate": {"accuracy.worse", "bits.changed"},
    "other_bits": {"bits.changed"},
    "not_deterministic": {"case.lost", "promise.weakened"},
    "wide": {"promise.weakened"},
}


@pytest.mark.parametrize("change", REFUSED)
def test_a_change_for_the_worse_is_refused_with_its_reason(change: str, runs: Runs) -> None:
    result = runs.gate("", change)
    assert result.returncode == 1, result
    assert runs.refused(change) == REFUSED[change]


def test_a_device_that_is_claimed_and_has_no_kernel_fails_without_a_gpu(runs: Runs) -> None:
    """Another operator has a kernel for CUDA, so the build does not lack CUDA."""
    result = runs.gate("with_cuda", "with_cuda,cuda_lost")
    assert result.returncode == 1, result
    assert runs.refused("with_cuda,cuda_lost") == {"case.lost", "registration.kernels"}
    assert "registration.kernels, cuda: fail: none is registered" in result.stdout
    assert "no longer has a kernel for CUDA" in result.stdout


def test_a_build_without_any_cuda_kernel_owes_what_is_claimed(runs: Runs) -> None:
    cases = (runs.of("") / "results.jsonl").read_text()
    (line,) = [
        line for line in cases.splitlines() if re.search(r'"scale/.*/cuda/registration.kernels"', line)
    ]
    assert json.loads(line)["verdict"] == "owed"


def test_a_part_is_judged_and_called_a_part(runs: Runs) -> None:
    results = runs.of("") / "results.jsonl"
    part = runs.project / "a part"
    run = ["run", "--check", "value.layout", "--op", "scale", "--output", part]
    assert runs.opgate(*run, folder=runs.project).returncode == 0
    lines = results.read_text().splitlines()
    header = json.loads(lines[0])
    header["filter"]["checks"] = []
    whole = runs.project / "whole"
    whole.mkdir()
    (whole / "results.jsonl").write_text("\n".join([json.dumps(header), *lines[1:], ""]))
    result = runs.opgate("gate", "--base", whole, "--results", part / "results.jsonl", folder=runs.project)
    assert result.returncode == 0, result
    assert "accepted in part: " in result.stdout
    assert "Only the checks value.layout of the operators scale were judged" in result.stdout
    crash = runs.project / "a part that fails"
    run = ["run", "--check", "value.layout", "--op", "scale", "--output", crash]
    environment = {"OPGATE_CHANGES": "stride_blind"}
    assert runs.opgate(*run, folder=runs.project, environment=environment).returncode == 1
    words = ["gate", "--base", whole, "--results", crash / "results.jsonl"]
    assert runs.opgate(*words, folder=runs.project).returncode == 1


def test_a_crash_is_refused_with_its_signal(runs: Runs) -> None:
    result = runs.gate("", "crashes")
    assert result.returncode == 1, result
    refused = [remark for remark in runs.remarks("crashes") if remark["kind"] == "refused"]
    assert {"value.layout", "effect.alias"} <= {remark["rule"] for remark in refused}
    assert any("SIGABRT" in remark["what"] for remark in refused)


# The base, the head, and what the gate remarks although it accepts.
ACCEPTED = {
    ("", ""): set(),
    ("", "refactored"): set(),
    ("", "longer"): {("note", "schema.compatible")},
    ("not_deterministic", ""): {("better", "promise.weakened")},
    ("wide", ""): {("better", "promise.weakened")},
    ("not_deterministic,inaccurate", "not_deterministic,exact"): {
        ("better", "accuracy.worse"),
        ("note", "value.changed"),
    },
    ("", "with_cuda"): {("note", "case.lost")},
    ("with_cuda", "with_cuda,refactored"): set(),
    ("stride_blind", ""): set(),
    ("no_overload", ""): {("note", "ledger.incomplete")},
    ("fewer_samples", ""): set(),
    ("float_only", ""): {("better", "promise.weakened")},
    ("stride_blind", "stride_blind,refactored"): {
        ("note", "memory.bounds"),
        ("note", "value.index64"),
        ("note", "value.layout"),
    },
}


@pytest.mark.parametrize(("base", "head"), ACCEPTED)
def test_a_change_that_is_no_worse_is_accepted(base: str, head: str, runs: Runs) -> None:
    result = runs.gate(base, head)
    assert result.returncode == 0, result
    assert {(remark["kind"], remark["rule"]) for remark in runs.remarks(head)} == ACCEPTED[base, head]


def test_one_new_failure_among_old_ones_is_refused(runs: Runs, tmp_path: Path) -> None:
    """The base broke the same promise, but not in this case."""
    base = runs.of("stride_blind") / "results.jsonl"
    lines = [json.loads(line) for line in base.read_text().splitlines()]
    failing = [
        line
        for line in lines
        if line.get("verdict") == "fail" and re.fullmatch(r"scale/.*/value\.layout", line["case"])
    ]
    assert len(failing) > 1
    for line in lines:
        if line is failing[0]:
            line["verdict"] = "pass"
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ["gate", "--base", tmp_path, "--results", base]
    result = runs.opgate(*words, folder=runs.project, environment={"OPGATE_CHANGES": "stride_blind"})
    assert result.returncode == 1, result
    assert "of them have the same verdict in the base" in result.stdout
    assert result.stdout.count("; the base has the same verdict") >= 1, "the others are as they were"


def test_owed_cases_are_counted_and_refused_where_that_is_asked_for(runs: Runs, has_gpu: bool) -> None:
    if has_gpu:
        pytest.skip("nothing is owed here")
    assert "owed: " in runs.gate("", "").stdout
    strict = runs.gate("", "", "--strict-gpu")
    assert strict.returncode == 1
    assert "cases are owed, and --strict-gpu wants none" in strict.stdout


def test_another_factor_allows_other_errors(runs: Runs) -> None:
    base, head = "not_deterministic", "not_deterministic,inaccurate"
    assert runs.gate(base, head).returncode == 1
    assert runs.gate(base, head, "--accuracy-factor", "3").returncode == 0


# Waivers

LATER = (datetime.now(UTC) + timedelta(days=60)).date().isoformat()


def waiver(**changed: str) -> str:
    """A waiver for the layouts of stride_blind."""
    words = {
        "check": '"value.layout"',
        "op": '"scale"',
        "reason": '"fixed in the next release"',
        "issue": '"https://example.org/1"',
        "expires": LATER,
    }
    lines = [f"{word} = {value}" for word, value in (words | changed).items() if value]
    return "[[waiver]]\n" + "\n".join(lines) + "\n"


@pytest.fixture
def waivers(runs: Runs) -> Iterator[Path]:
    file = runs.project / "waivers.toml"
    yield file
    file.write_text("")


def checks_refused(result: Completed) -> str:
    return result.stdout.partition("notes")[0]


def test_a_waiver_lets_one_check_of_one_operator_pass_and_says_so(runs: Runs, waivers: Path) -> None:
    waivers.write_text(waiver(check='"accuracy.worse"') + waiver(check='"bits.changed"'))
    result = runs.gate("", "inaccurate")
    assert f"waived until {LATER}: fixed in the next release (https://example.org/1)" in result.stdout
    assert "scale.twice" in checks_refused(result), "another operator is not waived"
    assert "  scale  " not in checks_refused(result)


def test_a_waiver_of_what_the_base_breaks_too_is_no_idle_one(runs: Runs, waivers: Path) -> None:
    waivers.write_text(waiver())
    result = runs.gate("stride_blind", "stride_blind,refactored")
    assert result.returncode == 0, result
    assert "waived until" in result.stdout


@pytest.mark.parametrize("check", ["package.stale", "speed.slower"])
def test_a_waiver_of_a_rule_that_was_not_asked_waits(check: str, runs: Runs, waivers: Path) -> None:
    waivers.write_text(waiver(check=f'"{check}"', op='"*"'))
    assert runs.gate("", "refactored").returncode == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"expires": "2026-01-01"}, "the waiver of value.layout expired on 2026-01-01"),
        ({"op": '"scale.twice"'}, "the waiver of value.layout waives nothing: remove it"),
        (
            {"expires": "9999-12-31"},
            "the waiver of value.layout ends on 9999-12-31, and no waiver may end after",
        ),
    ],
)
def test_an_expired_or_unused_waiver_is_refused(
    changed: dict[str, str], said: str, runs: Runs, waivers: Path
) -> None:
    waivers.write_text(waiver(**changed))
    result = runs.gate("", "refactored")
    assert result.returncode == 1
    assert said in result.stdout
    assert "waivers.toml:1" in result.stdout


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"reason": ""}, "this waiver has no reason"),
        ({"issue": ""}, "this waiver has no issue"),
        ({"expires": ""}, "this waiver has no end"),
        ({"expires": '"2999-12-31"'}, "a date without quotes"),
        ({"because": '"x"'}, "`because` is no word of a waiver"),
        ({"check": '"waiver"'}, "the rule of waivers cannot be waived"),
    ],
)
def test_a_waiver_that_lacks_something_is_refused(
    changed: dict[str, str], said: str, runs: Runs, waivers: Path
) -> None:
    waivers.write_text(waiver(**changed))
    assert_refused(runs.gate("", ""), "waivers.toml:", said)


@pytest.mark.parametrize(
    ("limits", "is_waived"),
    [
        ({"dtype": '"float32"', "device": '"cpu"'}, True),
        ({"dtype": '"float64"'}, False),
        ({"device": '"cuda"'}, False),
        ({"defect": '"worst error 1.5 -> "'}, True),
        ({"defect": '"another reason"'}, False),
    ],
)
def test_a_waiver_may_be_for_one_dtype_device_or_defect(
    limits: dict[str, str], is_waived: bool, runs: Runs, waivers: Path
) -> None:
    waivers.write_text(waiver(check='"accuracy.worse"', **limits))
    result = runs.gate("", "inaccurate")
    line = "scale        accuracy, cpu, float32, value.reference: worst error"
    assert (line not in checks_refused(result)) == is_waived


def test_a_crash_is_waived_by_its_name_alone(runs: Runs, waivers: Path) -> None:
    waivers.write_text(waiver(check='"value.layout"'))
    unnamed = runs.gate("", "crashes")
    assert re.search("SIGABRT .*; the same defect: .*value.layout", checks_refused(unnamed))
    assert "the waiver of value.layout waives nothing" in unnamed.stdout
    waivers.write_text(waiver(check='"value.layout"', defect='"SIGABRT"'))
    named = runs.gate("", "crashes")
    (others,) = re.findall("SIGABRT .*; the same defect: (.*)", checks_refused(named))
    assert "value.reference" in others
    assert "value.layout" not in others
    assert f"waived until {LATER}" in named.stdout


def test_refusals_and_bases_are_told_as_defects(runs: Runs) -> None:
    crashes = runs.gate("", "crashes").stdout
    assert re.search(r"^refused, [1-9] defects? and \d+ other reasons?$", crashes, re.MULTILINE)
    assert re.search(r"^defects: [1-9] new defects?, 0 gone, 0 as in the base$", crashes, re.MULTILINE)
    fixed = runs.gate("crashes", "").stdout
    assert re.search(r"^defects: 0 new defects, [1-9] gone, 0 as in the base$", fixed, re.MULTILINE)
    same = runs.gate("crashes", "crashes").stdout
    assert re.search(r"^defects: 0 new defects, 0 gone, [1-9] as in the base$", same, re.MULTILINE)


def test_a_file_of_waivers_may_allow_another_term(runs: Runs, waivers: Path) -> None:
    waivers.write_text("max_days = 10\n" + waiver(check='"accuracy.worse"'))
    assert "no waiver may end after" in runs.gate("", "inaccurate").stdout
    waivers.write_text("max_days = 0\n")
    assert_refused(runs.gate("", ""), "max_days is a number of days")


def test_a_missing_file_of_waivers_is_named(runs: Runs, waivers: Path) -> None:
    waivers.unlink()
    assert_refused(runs.gate("", ""), "there is no ", "waivers.toml: create it")


# The ledger


@pytest.fixture
def whole_run(runs: Runs, tmp_path: Path) -> Path:
    """A run whose header says that no check was left out."""
    lines = (runs.of("") / "results.jsonl").read_text().splitlines()
    header = json.loads(lines[0])
    header["filter"]["checks"] = []
    (tmp_path / "results.jsonl").write_text("\n".join([json.dumps(header), *lines[1:], ""]))
    return tmp_path / "results.jsonl"


@pytest.fixture
def ledger(runs: Runs) -> Iterator[Path]:
    folder = runs.project / "ledger"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_the_ledger_is_small_sorted_text_that_does_not_change_by_itself(
    runs: Runs, whole_run: Path, ledger: Path
) -> None:
    first = runs.opgate("accept", "--results", whole_run, folder=runs.project)
    assert first.returncode == 0, first
    assert "new        scale, scale.twice, weigh" in first.stdout
    text = (ledger / "scale.toml").read_text()
    assert 'schema = "opgate_changes::scale(Tensor x, float factor=2.) -> Tensor"' in text
    assert '"contiguous" = "[4, 8] strides (8, 1)"' in text
    assert '"x=transposed" =' not in text, "what every layout returns is said once"
    second = runs.opgate("accept", "--results", whole_run, folder=runs.project)
    assert "3 operators accepted" in second.stdout
    assert "(3 of them unchanged)" in second.stdout
    assert (ledger / "scale.toml").read_text() == text


def test_the_gate_compares_with_the_ledger(runs: Runs, whole_run: Path, ledger: Path) -> None:
    assert runs.opgate("accept", "--results", whole_run, folder=runs.project).returncode == 0
    same = runs.opgate("gate", "--results", whole_run, folder=runs.project)
    assert same.returncode == 0, same
    text = (ledger / "scale.toml").read_text()
    (ledger / "scale.toml").write_text(text.replace("strides (8, 1)", "strides (1, 4)"))
    changed = runs.opgate("gate", "--results", whole_run, folder=runs.project)
    assert changed.returncode == 1, changed
    assert "changed from [4, 8] strides (1, 4) to [4, 8] strides (8, 1)" in changed.stdout
    assert changed.stdout.rstrip().endswith("where they are intended, review and run `opgate accept`.")


def test_broken_promises_are_not_accepted(runs: Runs, whole_run: Path, ledger: Path) -> None:
    text = whole_run.read_text()
    case = '"scale/float32/4x8,3./contiguous/cpu/value.reference"'
    lines = [line for line in text.splitlines() if not line.startswith('{"case":' + case)]
    broken = '{"case":' + case + ',"verdict":"crash","reason":"SIGSEGV"}'
    whole_run.write_text("\n".join([lines[0], broken, *lines[1:], ""]))
    result = runs.opgate("accept", "--results", whole_run, folder=runs.project)
    assert_refused(result, "1 promises are broken in the run of", "nothing is accepted")
    assert not ledger.exists()


def test_a_part_of_the_checks_is_no_state_to_accept(runs: Runs, ledger: Path) -> None:
    results = runs.of("") / "results.jsonl"
    said = "has only some checks of its operators"
    assert_refused(runs.opgate("accept", "--results", results, folder=runs.project), said)
    assert not ledger.exists()


def test_a_conflict_in_the_ledger_is_named(runs: Runs, whole_run: Path, ledger: Path) -> None:
    runs.opgate("accept", "--results", whole_run, folder=runs.project)
    file = ledger / "scale.toml"
    file.write_text(file.read_text() + "<<<<<<< HEAD\nulps = 4\n=======\nulps = 8\n>>>>>>> change\n")
    result = runs.opgate("gate", "--results", whole_run, folder=runs.project)
    assert_refused(result, "scale.toml:", "a merge left a conflict here", "opgate accept")


@pytest.mark.parametrize(
    "text", ["schema = 1\n", "cpu = 3\n", "[cpu.cases]\nx = { float32 = true }\n", "?\n"]
)
def test_what_is_no_ledger_is_named_with_its_line(
    text: str, runs: Runs, whole_run: Path, ledger: Path
) -> None:
    ledger.mkdir()
    (ledger / "scale.toml").write_text(text)
    assert_refused(runs.opgate("gate", "--results", whole_run, folder=runs.project), "scale.toml:")


def test_a_run_that_is_not_whole_is_refused(runs: Runs, whole_run: Path, ledger: Path) -> None:
    assert_refused(runs.opgate("gate", "--results", whole_run, folder=runs.project), "there is no ledger")
    whole_run.write_text("\n".join(whole_run.read_text().splitlines()[:-1]) + "\n")
    result = runs.opgate("accept", "--results", whole_run, folder=runs.project)
    assert_refused(result, "is unfinished", "--resume")


def test_a_full_disk_leaves_the_ledger_as_it_was(runs: Runs, whole_run: Path, ledger: Path) -> None:
    runs.opgate("accept", "--results", whole_run, folder=runs.project)
    before = {file.name: file.read_text() for file in ledger.iterdir()}
    whole_run.write_text(whole_run.read_text().replace('"torch": "', '"torch": "other than '))
    # The shell's limit on the size of files stands for a full disk.
    limited = f"ulimit -f 1; trap '' XFSZ; exec '{runs.opgate.program}' accept --results '{whole_run}'"
    shell = OpGate(Path("/bin/bash"), runs.project)
    result = shell("-c", limited, folder=runs.project)
    assert_refused(result, "cannot write")
    assert {file.name: file.read_text() for file in ledger.iterdir()} == before
