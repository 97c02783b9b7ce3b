"""opgate waive: lists of known failures become waivers, and what they do not know stays refused."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from changes import Runs
from harness import Completed, assert_refused
from opgate.request import UserError
from opgate.waivers.__main__ import known_failures
from opgate.waivers.failures_dict import CHECKS
from opgate.waivers.known_failure import KnownFailure

BROKEN = "stride_blind,wrong_gradient"
ISSUE = "https://example.org/issues/12"


@pytest.fixture
def waivers(runs: Runs) -> Iterator[Path]:
    file = runs.project / "waivers.toml"
    yield file
    file.write_text("")


@pytest.fixture
def waive(runs: Runs, waivers: Path) -> Callable[..., Completed]:
    """Runs the command on the results of a state."""

    def run(*words: str | Path, state: str = BROKEN) -> Completed:
        results = runs.of(state) / "results.jsonl"
        return runs.opgate("waive", "--results", results, *words, folder=runs.project)

    return run


def written(file: Path) -> list[dict[str, Any]]:
    return tomllib.loads(file.read_text()).get("waiver", [])


def failures_dict(folder: Path, **tests: dict[str, str]) -> Path:
    """A list of PyTorch for opgate_changes::scale."""
    file = folder / "failures_dict.json"
    names = {f"TestScale.{test}__test_small": entry for test, entry in tests.items()}
    content = {"_description": "", "_version": 1, "data": {"opgate_changes::scale": names}}
    file.write_text(json.dumps(content))
    return file


def test_a_marked_test_waives_what_fails_in_its_operator(
    waive: Callable[..., Completed], waivers: Path, runs: Runs, tmp_path: Path
) -> None:
    tests = tmp_path / "the tests" / "test_scale.py"
    tests.parent.mkdir()
    tests.write_text(f"""
import pytest, torch

@pytest.mark.xfail(reason="reads a transposed matrix as dense, see {ISSUE}.", strict=True)
def test_transposed():
    assert torch.ops.opgate_changes.scale(torch.ones(2, 3).T, 2.0).sum() == 12

@pytest.mark.parametrize("dtype", [torch.float64])
def test_weigh(dtype):
    torch.ops.opgate_changes.weigh(torch.ones(3, dtype=dtype), 2.0)
""")
    result = waive("--from", tests)
    assert result.returncode == 0, result
    made = written(waivers)
    assert {one["op"] for one in made} == {"scale", "scale.twice"}, "the test does not say which overload"
    assert "value.layout" in {one["check"] for one in made}
    assert {one["issue"] for one in made} == {ISSUE}
    until = (datetime.now(UTC) + timedelta(days=60)).date()
    assert {one["expires"] for one in made} == {until}
    assert made[0]["reason"].startswith("reads a transposed matrix as dense")
    assert made[0]["reason"].endswith(f"(test_transposed in {tests}:4)")
    assert "fails, and none of these lists knows it:\n  weigh  grad." in result.stdout

    # The gate takes them, and still refuses what no list knows.
    gated = runs.gate("", BROKEN)
    refused = {(one["op"], one["rule"]) for one in runs.remarks(BROKEN) if one["kind"] == "refused"}
    assert refused, gated
    assert {op for op, rule in refused if rule.startswith(("value.", "grad."))} == {"weigh"}
    assert ("scale", "waiver") not in refused, gated.stdout

    again = waive("--from", tests)
    assert "no waiver was written" in again.stdout
    assert written(waivers) == made


def known(folder: Path, text: str, name: str = "test_scale.py") -> list[KnownFailure]:
    """What a file with that text lists."""
    (folder / name).write_text(text)
    return known_failures([folder / name])


@pytest.mark.parametrize(
    ("parameters", "dtypes"),
    [
        ("pytest.param(torch.float32, marks=pytest.mark.xfail)", [{"float32"}]),
        ("pytest.param(torch.float32, marks=[pytest.mark.xfail(reason='')])", [{"float32"}]),
        ("pytest.param(3, marks=pytest.mark.xfail), torch.float32", [set()]),
        ("torch.float32", []),
    ],
)
def test_a_marked_parameter_is_about_its_dtype_alone(
    parameters: str, dtypes: list[set[str]], tmp_path: Path
) -> None:
    text = f"@pytest.mark.parametrize('p', [{parameters}])\ndef test(p): scale(p)\n"
    assert [one.dtypes for one in known(tmp_path, text)] == dtypes


@pytest.mark.parametrize(
    "text",
    [
        "class TestScale:\n    pytestmark = [pytest.mark.xfail]\n    def test(self): scale(x)\n",
        "class TestScale:\n    @unittest.expectedFailure\n    def test(self): lib.scale(x)\n",
        "pytestmark = pytest.mark.xfail(reason='all')\nasync def test(): call('opgate_changes::scale')\n",
        "def test():\n    pytest.xfail('not yet')\n    lib.scale(x)\n",
    ],
    ids=["class", "unittest", "module", "call"],
)
def test_marks_are_found_wherever_they_stand(text: str, tmp_path: Path) -> None:
    (failure,) = known(tmp_path, text)
    scale = {"op": "scale", "schema": "opgate_changes::scale(Tensor x) -> Tensor", "check": "value.layout"}
    assert failure.explains({**scale, "dtypes": ["float32"]})
    assert not failure.explains({**scale, "schema": "other::weigh(Tensor x) -> Tensor", "op": "weigh"})


def test_a_call_of_torch_is_no_call_of_an_operator_of_that_name(tmp_path: Path) -> None:
    (failure,) = known(tmp_path, "@pytest.mark.xfail\ndef test(): torch.scale(x) + lib.weigh(x)\n")
    assert failure.names == {"weigh"}


@pytest.mark.parametrize(
    ("test", "check", "explains"),
    [
        ("test_faketensor", "fake.metadata", True),
        ("test_faketensor", "value.layout", False),
        ("test_schema", "effect.mutation", True),
        ("test_aot_dispatch_dynamic", "compile.equal", True),
        ("test_of_the_project", "value.layout", True),
    ],
)
def test_an_entry_for_a_test_of_opcheck_explains_what_sees_the_same(
    test: str, check: str, explains: bool, tmp_path: Path
) -> None:
    file = failures_dict(
        tmp_path, **{test: {"comment": "", "status": "xfail"}, "gone": {"status": "xsuccess"}}
    )
    (failure,) = known_failures([file])
    scale = {"op": "scale", "schema": "opgate_changes::scale(Tensor x) -> Tensor", "dtypes": []}
    assert failure.explains({**scale, "check": check}) == explains


def test_the_checks_that_see_what_opcheck_sees_exist(runs: Runs) -> None:
    listed = runs.opgate("list", "checks", folder=runs.project).stdout
    ids = [line.split()[0] for line in listed.splitlines() if line]
    for begin in {begin for checks in CHECKS.values() for begin in checks}:
        assert any(each.startswith(begin) for each in ids), f"no check begins with {begin}"


def test_a_crash_is_waived_by_its_name(
    waive: Callable[..., Completed], waivers: Path, runs: Runs, tmp_path: Path
) -> None:
    entry = {"comment": f"see {ISSUE}", "status": "skip"}
    assert waive("--from", failures_dict(tmp_path, test_own=entry), state="crashes").returncode == 0
    crashes = {one["check"] for one in written(waivers) if one.get("defect") == "crash"}
    assert crashes
    runs.gate("", "crashes")
    assert not runs.refused("crashes") & (crashes | {"waiver"})


def test_other_waivers_stay_and_a_file_that_was_not_named_is(
    runs: Runs, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = new_project(libraries=["libopgate_changes.so"])
    entry = {"comment": ISSUE, "status": "xfail"}
    words = ["waive", "--results", runs.of(BROKEN) / "results.jsonl", "--from"]
    result = runs.opgate(*words, failures_dict(tmp_path, test_own=entry), folder=project)
    assert result.returncode == 0, result
    assert f"named it in {project}/opgate.toml" in result.stdout
    assert tomllib.loads((project / "opgate.toml").read_text())["waivers"] == "waivers.toml"
    file = project / "waivers.toml"
    text = "# ours\nmax_days = 70\n" + file.read_text().replace("value.layout", "value.batch")
    file.write_text(text)
    assert runs.opgate(*words, tmp_path / "failures_dict.json", folder=project).returncode == 0
    assert file.read_text().startswith(text)
    assert len(written(file)) > text.count("[[waiver]]")
    for still in (text, "max_days = 70\n"):
        file.write_text(still)
        assert_refused(
            runs.opgate(*words, tmp_path / "failures_dict.json", "--days", "71", folder=project),
            "--days 71: a waiver may end 70 days from now at most",
        )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("list.json", "{", "list.json is no JSON: "),
        ("list.json", "[]", 'list.json is no list of known failures: it lacks "data"'),
        ("list.json", '{"_version": 7, "data": {}}', "list.json has version 7, and only 1 is known"),
        ("list.json", '{"data": {"a::b": {"T.test": "xfail"}}}', 'an entry is an object with a "status"'),
        ("test_a.py", "def test(:", "test_a.py is no Python: "),
        ("list.txt", "", "known failures are read from a file of tests (.py) or a failures_dict (.json)"),
    ],
)
def test_a_list_that_cannot_be_read_is_named(name: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        known(tmp_path, text, name)


def test_a_list_that_cannot_be_used_changes_nothing(
    waive: Callable[..., Completed], waivers: Path, tmp_path: Path
) -> None:
    assert_refused(waive("--from", tmp_path / "none.json"), "none.json cannot be read: No such file")
    (tmp_path / "test_a.py").write_text("@pytest.mark.xfail\ndef test(): scale(x)")
    assert_refused(waive("--from", tmp_path / "test_a.py"), "names no address of an issue")
    assert written(waivers) == []
