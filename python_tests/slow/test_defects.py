"""Planted defects: each is found by the check that it was planted for, and no check fails for a twin."""

from __future__ import annotations

import hashlib
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, complaints, read_results

pytestmark = pytest.mark.long

# Defects whose findings are printed, in approved/run.txt too, and the checks that they are planted for.
TOLD = {
    "stride_blind": "value.layout",
    "gap_writer": "effect.mutation",
    "undeclared_dtype": "value.dtype",
    "lost_write_back": "value.layout",
    "other_fake_strides": "fake.metadata",
    "returns_input": "effect.alias",
}

# Defects of operators in Python that are planted for tensors on CUDA alone.
ON_CUDA_IN_PYTHON = {"lengths_on_device"}


@dataclass(frozen=True)
class Row:
    """One line of the matrix."""

    verdict: str
    check: str
    opcheck: str
    others: list[str]


def matrix(finished: Completed) -> dict[str, Row]:
    """The lines of `opgate selftest` by defect."""
    lines = [line.split() for line in finished.stdout.splitlines()]
    begin = next(i for i, words in enumerate(lines) if words[:2] == ["defect", "planted"]) + 1
    end = lines.index([], begin)
    return {
        name: Row(verdict, check, opcheck, others)
        for name, verdict, check, opcheck, *others in lines[begin:end]
    }


@pytest.fixture(scope="module")
def config(source: Path) -> Path:
    return source / "fixtures" / "defects" / "opgate.toml"


@dataclass(frozen=True)
class Selftest:
    """A finished selftest: what it printed, and the folder of its results."""

    completed: Completed
    output: Path


@pytest.fixture(scope="module")
def selftest(opgate: OpGate, config: Path, tmp_path_factory: pytest.TempPathFactory) -> Selftest:
    """All planted defects and twins, by all native checks."""
    output = tmp_path_factory.mktemp("selftest")
    words = ["--config", config, "--output", output, "--no-opcheck"]
    return Selftest(opgate("selftest", *words, timeout=3600), output)


@pytest.fixture(scope="module")
def checks(opgate: OpGate, config: Path) -> dict[str, str]:
    """The kind of worker of each check."""
    listed = opgate("list", "checks", "--config", config).stdout.splitlines()
    return {line.split()[0]: line.split()[1] for line in listed}


def demand_all_found(completed: Completed) -> None:
    # What went wrong stands below the matrix, whose hundreds of lines would push it out of a shortened log.
    below_the_matrix = "\n\n".join(completed.stdout.split("\n\n")[2:])
    assert (completed.returncode, complaints(completed)) == (0, []), below_the_matrix
    assert {row.verdict for row in matrix(completed).values()} <= {"found", "sim", "owed"}
    last = completed.stdout.splitlines()[-1]
    assert re.match(r"(\d+) of \1 defects found by the check they were planted for[;,] ", last)
    assert re.search(r"; (\d+) of \1 correct twins not flagged by any check", last)


def test_each_defect_is_found_by_its_check_and_no_twin_is_flagged(selftest: Selftest) -> None:
    demand_all_found(selftest.completed)


def digest(texts: Iterable[str]) -> str:
    """A short digest of texts in this order."""
    return hashlib.sha1("\n".join(texts).encode()).hexdigest()[:8]


def test_verdicts_change_with_the_revision_of_their_check_alone(
    selftest: Selftest, source: Path, request: pytest.FixtureRequest
) -> None:
    results = read_results(selftest.output)
    verdicts: dict[tuple[str, str], dict[str, str]] = {}
    for case, line in sorted(results.cases.items()):
        name, call = case.split("/", 1)
        if "/cuda/" not in case:
            verdicts.setdefault((name, case.rpartition("/")[2]), {})[call] = line["verdict"]
    now = {}
    for name, row in matrix(selftest.completed).items():
        of_check = verdicts.get((name, row.check), {})
        parts = (results.header["revisions"][row.check], digest(of_check), digest(of_check.values()))
        now[name] = " ".join(parts)
    file = source / "fixtures" / "revisions" / "verdicts.toml"
    kept = tomllib.loads(file.read_text())
    # The revision, and the cases: new ones need no new revision, because no evidence has them.
    as_kept = {name: kept.get(name, "").split()[:2] == now[name].split()[:2] for name in now}
    if request.config.getoption("--approve"):
        kept = {name: kept[name] if as_kept[name] else now[name] for name in now}
        file.write_text("".join(f'"{name}" = "{text}"\n' for name, text in sorted(kept.items())))
    assert kept == now, (
        "A planted defect is judged otherwise than before. If the defect itself has not changed, raise the "
        "revision of its check, or kRevisionOfComparison in judging/revision.h: no evidence of a GPU then "
        f"counts for what was not asked there. Otherwise remove its line from {file}. Then run this test "
        "with --approve"
    )


def test_each_fault_beside_a_tensor_is_told_with_its_place(
    opgate: OpGate, config: Path, tmp_path: Path
) -> None:
    """The worker has judged other calls of the check before, and a single check is not run again."""
    planted = [file.stem for file in (config.parent / "memory.pages").glob("*.cpp")]
    words = ["--config", config, "--check", "memory.pages", "--jobs", "1", "--output", tmp_path]
    opgate("run", *words, "--op", *planted, "totals", "counts_in_rows", "--order", "reversed")
    crashes = [line["reason"] for line in read_results(tmp_path).cases.values() if line["verdict"] == "crash"]
    assert len(crashes) >= len(planted)
    assert all("out of bounds: byte " in reason for reason in crashes), crashes


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", ["reversed", "20261123"])
def test_the_order_of_the_operators_changes_no_verdict(
    order: str, selftest: Selftest, opgate: OpGate, config: Path, tmp_path: Path
) -> None:
    words = ["--config", config, "--output", tmp_path, "--no-opcheck", "--order", order]
    completed = opgate("selftest", *words, timeout=3600)
    demand_all_found(completed)
    verdicts = [
        {case: line["verdict"] for case, line in read_results(output).cases.items()}
        for output in (selftest.output, tmp_path)
    ]
    assert verdicts[0] == verdicts[1]


def test_each_native_check_has_three_planted_defects(
    selftest: Selftest, checks: dict[str, str], config: Path
) -> None:
    """Defects in CUDA count even if they are not built; their folder has the name of their check."""
    planted = {file.stem: file.parent.name for file in config.parent.glob("*/*.cu")}
    planted |= {name: row.check for name, row in matrix(selftest.completed).items()}
    counts = Counter(planted.values())
    few = {
        check: counts[check] for check, worker in checks.items() if worker == "native" and counts[check] < 3
    }
    assert few == {}


def test_those_that_need_cuda_are_owed_where_nothing_can_run_them(
    selftest: Selftest, config: Path, has_gpu: bool, has_simulator: bool
) -> None:
    """A build without CUDA does not know them."""
    in_cuda = {file.stem for file in config.parent.glob("*/*.cu")}
    rows = matrix(selftest.completed)
    assert in_cuda
    assert in_cuda & set(rows) in (set(), in_cuda)
    on_cuda = in_cuda & set(rows) | ON_CUDA_IN_PYTHON
    owed = {name for name, row in rows.items() if row.verdict == "owed"}
    assert owed == (set() if has_gpu or has_simulator else on_cuda)
    simulated = {name for name, row in rows.items() if row.verdict == "sim"}
    assert simulated == (on_cuda if has_simulator and not has_gpu else set())


def test_opcheck_answers_as_measured(opgate: OpGate, config: Path, tmp_path: Path) -> None:
    words = ["--config", config, "--output", tmp_path, "--op", *TOLD]
    completed = opgate("selftest", *words, timeout=3600)
    rows = matrix(completed)
    seen = {name for name in TOLD if rows[name].opcheck == "fails"}
    unseen = {name for name in TOLD if rows[name].opcheck == "passes"}
    assert seen == {"other_fake_strides", "returns_input"}
    assert unseen == set(TOLD) - seen
    assert f"planted for, {len(unseen)} of them not found by opcheck; " in completed.stdout.splitlines()[-1]


@pytest.mark.exhaustive
def test_opcheck_answers_on_every_defect(opgate: OpGate, config: Path, tmp_path: Path) -> None:
    """The figure in docs/limits.md."""
    completed = opgate("selftest", "--config", config, "--output", tmp_path, timeout=7200)
    assert (completed.returncode, complaints(completed)) == (0, []), completed.stdout
    rows = matrix(completed).values()
    found = [row for row in rows if row.verdict in ("found", "sim")]
    assert {row.opcheck for row in found if not row.check.startswith("class.")} == {"fails", "passes"}
    assert {row.opcheck for row in found if row.check.startswith("class.")} == {
        "."
    }  # opcheck takes no classes
    unseen = sum(row.opcheck == "passes" for row in found)
    assert f", {unseen} of them not found by opcheck; " in completed.stdout.splitlines()[-1]
    print(completed.stdout.splitlines()[-1])


def test_a_gradient_that_lacks_a_result_names_the_result(selftest: Selftest) -> None:
    cases = read_results(selftest.output)
    for defect in ("length_without_gradient", "remainder_without_gradient"):
        reasons = {line.get("likely") for line in cases.of(defect).values() if line["verdict"] == "fail"}
        ignored = "the backward ignores the cotangent (incoming gradient) of output 1: "
        assert reasons == {ignored + "it has no effect on this gradient"}, (defect, reasons)


def test_the_matrix_says_what_the_cases_say(selftest: Selftest) -> None:
    """The checks that find a defect are read from the cases; without its own check, the others remain."""
    results = read_results(selftest.output)
    rows = matrix(selftest.completed)
    failing: dict[str, set[str]] = {name: set() for name in rows}
    for case, line in results.cases.items():
        op, check = case.split("/")[0], case.rpartition("/")[2]
        if op in failing and line["verdict"] in ("fail", "crash", "timeout"):
            failing[op].add(check)
    for name, row in rows.items():
        assert (row.check in failing[name]) == (row.verdict in ("found", "sim")), name
        assert failing[name] - {row.check} == set(row.others), name


def assert_escaping(opgate: OpGate, config: Path, output: Path, check: str, defects: list[str]) -> None:
    """Without the check, every defect that is planted for it escapes."""
    words = ["--config", config, "--output", output, "--blind", check, "--op", *defects]
    result = opgate("selftest", *words, timeout=3600)
    escaped = re.findall(r"^ESCAPED (\S+): ", result.stdout, re.M)
    assert (result.returncode, sorted(escaped)) == (1, sorted(defects)), result.stdout


def planted_for(selftest: Selftest) -> dict[str, list[str]]:
    """The names of the defects by the check that they are planted for."""
    by_check: dict[str, list[str]] = {}
    for name, row in matrix(selftest.completed).items():
        by_check.setdefault(row.check, []).append(name)
    return by_check


@pytest.mark.parametrize("check", ["value.layout", "effect.alias", "fake.metadata"])
def test_the_matrix_notices_a_check_that_is_switched_off(
    check: str, selftest: Selftest, opgate: OpGate, config: Path, tmp_path: Path
) -> None:
    assert_escaping(opgate, config, tmp_path, check, planted_for(selftest)[check])


@pytest.mark.exhaustive
def test_the_matrix_notices_each_check_that_is_switched_off(
    selftest: Selftest, opgate: OpGate, config: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for check, defects in planted_for(selftest).items():
        with subtests.test(check):
            assert_escaping(opgate, config, tmp_path, check, defects)


def test_a_check_that_is_switched_off_must_exist(opgate: OpGate, config: Path, tmp_path: Path) -> None:
    result = opgate("selftest", "--config", config, "--output", tmp_path, "--blind", "value.layouts")
    assert_refused(result, "value.layouts")


def test_a_project_without_planted_defects_is_told_where_there_are_some(
    opgate: OpGate, source: Path, tmp_path: Path
) -> None:
    result = opgate("selftest", "--config", source / "opgate.toml", "--output", tmp_path)
    assert_refused(result, "nothing here is planted for a check", "--config fixtures/defects/opgate.toml")


@pytest.fixture(scope="module")
def finished(opgate: OpGate, config: Path, tmp_path_factory: pytest.TempPathFactory) -> Completed:
    """A run of the defects whose findings are compared."""
    output = tmp_path_factory.mktemp("defects")
    run = opgate("run", "--config", config, "--output", output, "--op", *TOLD, "--check", *set(TOLD.values()))
    results = read_results(output)
    assert (run.returncode, len(results.cases)) == (1, results.header["cases"])
    return run


def paragraph(finished: Completed, op: str) -> str:
    """The paragraph about the one defect of an operator."""
    found = [text for text in finished.stdout.split("\n\n") if re.match(rf" *\d+ {op} on cpu, ", text)]
    assert len(found) == 1, finished.stdout
    return found[0]


@pytest.mark.parametrize(("op", "check"), TOLD.items())
def test_the_printed_command_reproduces_the_failure(
    op: str, check: str, finished: Completed, opgate: OpGate, config: Path, tmp_path: Path
) -> None:
    lines = dict(line.split(maxsplit=1) for line in paragraph(finished, op).splitlines()[1:])
    program, *words = shlex.split(lines["again"])
    assert (program, words[0]) == ("opgate", "repro")
    assert words[1].endswith(f"/{check}")
    if "--config" not in words:
        words += ["--config", str(config)]
    repeated = opgate(*words, "--output", tmp_path)
    assert (repeated.returncode, complaints(repeated)) == (1, [])
    assert lines["seen"] in repeated.stdout
