"""opgate gate sees changes of operators and specs in Python; see fixtures/changes/changes_in_python.py."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from changes import Runs
from harness import Completed, OpGate, assert_refused

pytestmark = pytest.mark.long

MODULE = "changes_in_python"


@pytest.fixture(scope="module")
def runs(opgate: OpGate, new_project: Callable[..., Path], source: Path) -> Runs:
    """A project with the module, and a run of each group: "", "refused" and "accepted".

    Each operator of a group has another change, so that these three runs are enough; each imports torch. In
    the run of the harmless changes, the module has another name, too.
    """
    project = new_project(libraries=[], python=[MODULE], python_path=["."], ledger="ledger")
    module = project / f"{MODULE}.py"
    shutil.copy(source / "fixtures" / "changes" / module.name, module)
    runs = Runs(opgate, project)
    runs.of("")
    runs.of("refused")
    shutil.copy(module, project / "renamed.py")
    list_module(project, "renamed")
    runs.of("accepted")
    list_module(project, MODULE)
    return runs


def list_module(project: Path, name: str) -> None:
    """Makes opgate.toml list this module in place of the other one."""
    config = project / "opgate.toml"
    config.write_text(re.sub(f'"({MODULE}|renamed)"', f'"{name}"', config.read_text()))


def remarks(runs: Runs, head: str, operator: str) -> list[dict[str, str]]:
    """What the last gate of that run said of one operator."""
    return [remark for remark in runs.remarks(head) if remark["op"] == operator]


# What each operator changes, the rules that refuse it, and what the gate says of it.
REFUSED = {
    "formula": ({"bits.changed", "value.changed"}, "it computes another function"),
    "formula_and_narrow_domain": (
        {"bits.changed", "case.lost", "value.changed"},
        '"uniform"},3.0] -> [{"shape":[4,8],"values":"uniform(0,1)"},3.0]',
    ),
    "all_at_once": (
        {"accuracy.worse", "bits.changed", "case.lost", "promise.weakened", "value.changed"},
        "the tag pointwise is gone",
    ),
    "narrow_domain": ({"case.lost"}, "the sample `matrix` has other arguments"),
    "swapped_sample": ({"case.lost"}, "the sample `row` has other arguments"),
    "no_sample": ({"case.lost"}, "missing samples: `row`"),
    "scaled": ({"promise.weakened"}, "1 ulps -> 1 ulps scaled by inputs"),
    "ulps_of_half": ({"promise.weakened"}, "1 ulps -> 1 ulps of float16"),
    "loose_gradient": ({"promise.weakened"}, "64 ulps -> 1e+09 ulps"),
    "wrong_gradient": ({"grad.reference"}, "grad.reference, cpu: fail"),
    "wrong_gradient_and_loose_gradient": (
        {"accuracy.worse", "promise.weakened"},
        "accuracy, cpu, float32, grad.reference: worst error",
    ),
    "other_bits": (
        {"accuracy.worse", "bits.changed"},
        "results changed (float32, float64), though it promises",
    ),
    "columns": ({"output.metadata"}, "from [4, 8] strides (8, 1) to [4, 8] strides (1, 4)"),
    "no_tag": ({"promise.weakened"}, "the tag pointwise is gone"),
    "random_tag": ({"promise.weakened"}, "has the tag nondeterministic_bitwise now"),
    "no_fake": ({"case.lost", "owed.more"}, "no longer has a kernel in Python for Meta"),
    "no_vmap": ({"case.lost"}, "no longer has a kernel in Python for FuncTorchBatched"),
    "no_autocast": ({"case.lost"}, "no longer has a kernel in Python for AutocastCPU"),
    "no_derivative": ({"case.lost"}, "no longer has a kernel in Python for Autograd"),
    "no_derivative_of_library": ({"case.lost"}, "no longer has a kernel in Python for Autograd"),
    "only_cpu_of_library": ({"case.lost"}, "a kernel in Python for CompositeExplicitAutograd"),
    "no_promise": ({"case.lost", "promise.weakened"}, "no longer promises differentiable"),
    "float_only": ({"case.lost", "promise.weakened"}, "no longer accepts float64"),
    "no_rejection": ({"case.lost", "promise.weakened"}, "no longer promises to reject `weight 0`"),
    "other_message": ({"promise.weakened"}, 'raises "is zero"'),
    "unspecified": ({"promise.weakened"}, "`unspecified` was added for 0"),
    "refuses_strides": ({"output.metadata", "promise.weakened"}, "`wants_contiguous` was added for x"),
    "draft": ({"case.lost", "promise.weakened"}, "the spec became a draft"),
    "renamed_argument": ({"case.lost", "schema.compatible"}, "breaks callers and packages"),
    "other_default": ({"bits.changed", "schema.compatible", "value.changed"}, "float weight=3."),
}


@pytest.fixture(scope="module")
def refused(runs: Runs) -> str:
    """The run of the changes that must be refused, once the gate has judged it."""
    result = runs.gate("", "refused")
    assert result.returncode == 1, result
    return "refused"


@pytest.mark.parametrize("operator", REFUSED)
def test_a_change_in_python_is_refused(operator: str, runs: Runs, refused: str) -> None:
    refusals = [one for one in remarks(runs, refused, operator) if one["kind"] == "refused"]
    rules, said = REFUSED[operator]
    assert {one["rule"] for one in refusals} == rules
    assert said in "\n".join(f"{one['what']} {one['shown']}" for one in refusals)


def test_all_refusals_are_expected(runs: Runs, refused: str) -> None:
    assert {one["op"] for one in runs.remarks(refused) if one["kind"] == "refused"} == set(REFUSED)


# What the gate remarks of harmless and stricter changes, although it accepts them.
ACCEPTED = {
    "rewritten": set(),
    "rewritten_of_library": set(),
    "reference_rewritten": set(),
    "renamed_sample": {("note", "case.lost")},
    "half_ulp": {("better", "promise.weakened")},
    "tight_gradient": {("better", "promise.weakened")},
    "more_rejections": {("better", "promise.weakened")},
    "new_argument": {("note", "schema.compatible")},
    "new_tag": {("note", "promise.weakened")},
    "new_kernel": {("note", "case.lost")},
    "new_operator": {("note", "ledger.incomplete")},
}


def kinds(said: list[dict[str, str]]) -> set[tuple[str, str]]:
    """The kind and rule of each remark."""
    return {(one["kind"], one["rule"]) for one in said}


@pytest.fixture(scope="module")
def accepted(runs: Runs) -> str:
    """The run of the changes that must be accepted, once the gate has judged it."""
    list_module(runs.project, "renamed")
    result = runs.gate("", "accepted")
    list_module(runs.project, MODULE)
    assert result.returncode == 0, result
    return "accepted"


def test_results_of_another_module_than_the_listed_one_are_refused(runs: Runs) -> None:
    result = runs.gate("", "accepted")
    assert_refused(result, f"has no results of the Python module {MODULE}, which opgate.toml lists")


@pytest.mark.parametrize("operator", ACCEPTED)
def test_a_harmless_or_stricter_change_in_python_is_accepted(
    operator: str, runs: Runs, accepted: str
) -> None:
    assert kinds(remarks(runs, accepted, operator)) == ACCEPTED[operator]


def test_no_operator_changes_with_the_name_of_its_module(runs: Runs, accepted: str) -> None:
    expected = {operator for operator, said in ACCEPTED.items() if said}
    assert {one["op"] for one in runs.remarks(accepted)} == expected


# What the gate remarks of changes that take back one of REFUSED.
TAKEN_BACK = {
    "scaled": {("better", "promise.weakened")},
    "ulps_of_half": {("better", "promise.weakened")},
    "loose_gradient": {("better", "promise.weakened")},
    "wrong_gradient": set(),
    "no_sample": set(),
    "no_tag": {("note", "promise.weakened")},
    "random_tag": {("better", "promise.weakened")},
    "no_fake": {("note", "case.lost")},
    "no_vmap": {("note", "case.lost")},
    "no_autocast": {("note", "case.lost")},
    "no_derivative": {("note", "case.lost")},
    "no_promise": {("better", "promise.weakened")},
    "float_only": {("better", "promise.weakened")},
    "no_rejection": {("better", "promise.weakened")},
    "unspecified": {("better", "promise.weakened")},
    "refuses_strides": {("better", "promise.weakened")},
    "draft": {("better", "promise.weakened")},
}


def test_what_makes_a_refused_change_good_again_is_accepted(runs: Runs) -> None:
    runs.gate("refused", "")
    assert {operator: kinds(remarks(runs, "", operator)) for operator in TAKEN_BACK} == TAKEN_BACK


def rewritten(results: Path, into: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of these results, with another header."""
    header, _, rest = results.read_text().partition("\n")
    described = json.loads(header)
    edit(described)
    into.mkdir()
    (into / "results.jsonl").write_text(f"{json.dumps(described)}\n{rest}")
    return into


@pytest.mark.parametrize(
    ("base", "head", "status", "said"),
    [
        ("python", "library", 0, "has a kernel for Meta now"),
        ("library", "python", 1, "no longer has a kernel for Meta"),
    ],
)
def test_a_kernel_may_move_into_a_library_but_not_out_of_it(
    base: str, head: str, status: int, said: str, runs: Runs, tmp_path: Path
) -> None:
    """A C++ program has only the kernels of libraries."""

    def move(header: dict[str, Any]) -> None:
        facts = header["subjects"]["rewritten"]
        facts["python_kernels"].remove("Meta")
        facts["kernels"].append("Meta")

    results = runs.of("") / "results.jsonl"
    states = {
        "python": rewritten(results, tmp_path / "python", lambda header: None),
        "library": rewritten(results, tmp_path / "library", move),
    }
    result = runs.opgate(
        *("gate", "--base", states[base], "--results", states[head] / "results.jsonl"),
        folder=runs.project,
        environment={"OPGATE_CHANGES": ""},
    )
    assert result.returncode == status, result
    assert said in result.stdout


def test_the_ledger_keeps_what_python_registers(runs: Runs, tmp_path: Path) -> None:
    def whole(header: dict[str, Any]) -> None:
        header["filter"]["checks"] = []

    def of(changes: str) -> Path:
        return rewritten(runs.of(changes) / "results.jsonl", tmp_path / f"whole {changes}", whole)

    def with_results(word: str, changes: str) -> Completed:
        environment = {"OPGATE_CHANGES": changes}
        results = of(changes) / "results.jsonl"
        return runs.opgate(word, "--results", results, folder=runs.project, environment=environment)

    accept = with_results("accept", "")
    assert accept.returncode == 0, accept
    text = (runs.project / "ledger" / "no_vmap.toml").read_text()
    assert 'kernels = []\npython_kernels = ["AutocastCPU", "FuncTorchBatched", ' in text
    gate = with_results("gate", "refused")
    assert gate.returncode == 1, gate
    assert "no longer has a kernel in Python for FuncTorchBatched" in gate.stdout
    assert "the tag pointwise is gone" in gate.stdout
