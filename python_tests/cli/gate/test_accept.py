"""opgate accept: what it accepts is said, and what is worse needs a word."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from changes import Runs
from harness import Completed, assert_refused


def whole(runs: Runs, changes: str, folder: Path) -> Path:
    """The results of a run in that state, with a header that says that no check was left out."""
    lines = (runs.of(changes) / "results.jsonl").read_text().splitlines()
    header = json.loads(lines[0])
    header["filter"]["checks"] = []
    folder.mkdir()
    (folder / "results.jsonl").write_text("\n".join([json.dumps(header), *lines[1:], ""]))
    return folder / "results.jsonl"


@pytest.fixture
def ledger(runs: Runs) -> Iterator[Path]:
    folder = runs.project / "ledger"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def accepted(runs: Runs, ledger: Path, tmp_path: Path) -> Path:
    """The ledger of the first state."""
    assert accept(runs, whole(runs, "", tmp_path / "first")).returncode == 0
    return ledger


def accept(runs: Runs, results: Path, *options: str) -> Completed:
    return runs.opgate("accept", "--results", results, *options, folder=runs.project)


def test_what_is_worse_is_told_and_needs_yes(runs: Runs, accepted: Path, tmp_path: Path) -> None:
    before = (accepted / "weigh.toml").read_text()
    results = whole(runs, "formula,no_tag", tmp_path / "head")
    refused = accept(runs, results)
    assert refused.returncode == 1, refused
    assert "worse: the gate refuses 3 of these changes" in refused.stdout
    assert "the tag pt2_compliant_tag is gone" in refused.stdout
    assert "it computes another function" in refused.stdout
    assert refused.stdout.endswith("review them and run `opgate accept --yes`.\n")
    assert (accepted / "weigh.toml").read_text() == before
    taken = accept(runs, results, "-y")
    assert taken.returncode == 0, taken
    assert "it computes another function" in taken.stdout
    assert "changed    weigh" in taken.stdout
    assert (accepted / "weigh.toml").read_text() != before


def test_what_is_no_worse_needs_no_word(runs: Runs, accepted: Path, tmp_path: Path) -> None:
    result = accept(runs, whole(runs, "half_ulp", tmp_path / "head"))
    assert result.returncode == 0, result
    assert "better\n" in result.stdout
    assert "the accuracy is tighter" in result.stdout


def test_a_removed_operator_is_worse(runs: Runs, accepted: Path, tmp_path: Path) -> None:
    refused = accept(runs, whole(runs, "no_overload", tmp_path / "head"))
    assert refused.returncode == 1, refused
    assert (accepted / "scale.twice.toml").exists()


# Waivers in the ledger

WAIVER = """[[waiver]]
check = "value.layout"
op = "scale"
reason = "fixed in the next release"
issue = "https://example.org/1"
expires = EXPIRES
dtype = "float32"
"""


@pytest.fixture
def waivers(runs: Runs) -> Iterator[Path]:
    file = runs.project / "waivers.toml"
    before = file.read_text()
    yield file
    file.write_text(before)


def test_waivers_that_are_new_or_changed_or_removed_are_told(
    runs: Runs, accepted: Path, waivers: Path, tmp_path: Path
) -> None:
    from test_gate import LATER

    results = whole(runs, "", tmp_path / "head")

    def told(text: str) -> str:
        waivers.write_text(text)
        return runs.opgate("gate", "--results", results, folder=runs.project).stdout

    waiver = WAIVER.replace("EXPIRES", LATER)
    assert "the waiver of value.layout, float32 is new" in told(waiver)
    assert "is new" not in told("")
    # An unused waiver is refused, so this one is accepted only by --yes.
    waivers.write_text(waiver)
    assert accept(runs, results, "--yes").returncode == 0
    assert "[waivers]" in (accepted / "scale.toml").read_text()
    assert "the waiver of" not in told(waiver).partition("notes")[2]
    assert "the waiver of value.layout, float32 has changed" in told(waiver.replace("next", "last"))
    assert "the waiver of value.layout, float32 was removed" in told("")


def test_a_waiver_that_has_expired_lets_nothing_be_accepted(
    runs: Runs, ledger: Path, waivers: Path, tmp_path: Path
) -> None:
    waivers.write_text(WAIVER.replace("EXPIRES", "2024-01-31").replace('dtype = "float32"\n', ""))
    results = whole(runs, "stride_blind", tmp_path / "head")
    assert_refused(accept(runs, results), "promises are broken in the run of")
