"""opgate gate calls base and head with the same arguments, whatever their specs say; see fixtures/changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from changes import Runs
from harness import assert_refused


def said_of(runs: Runs, head: str, rule: str) -> list[dict[str, str]]:
    return [remark for remark in runs.remarks(head) if remark["rule"] == rule]


def test_another_function_is_seen_on_the_samples_of_the_base(runs: Runs) -> None:
    """On the narrower samples of the head, both functions are the same."""
    head = "formula,narrow_domain"
    result = runs.gate("", head)
    assert result.returncode == 1, result
    assert "calling 1 operator with samples of the base" in result.stdout
    (changed,) = [remark for remark in said_of(runs, head, "value.changed") if remark["kind"] == "refused"]
    assert "/matrix/contiguous/cpu/value.reference: " in changed["shown"]
    assert "elements differ from the base's, by up to " in changed["shown"]


def test_a_crash_is_not_hidden_by_removing_its_sample(runs: Runs) -> None:
    head = "crashes,fewer_samples"
    result = runs.gate("", head)
    assert result.returncode == 1, result
    (changed,) = said_of(runs, head, "value.changed")
    assert (
        "2 calls that the base's spec has as samples, and this spec has not, return nothing"
        in changed["what"]
    )
    assert changed["shown"].startswith("scale/float32/3,3./")


def test_other_rounding_is_told_in_ulps(runs: Runs) -> None:
    """Within the tolerance that the base promised, a note says how far the results are apart."""
    result = runs.gate("not_deterministic", "not_deterministic,exact")
    assert result.returncode == 0, result
    told = said_of(runs, "not_deterministic,exact", "value.changed")
    assert {remark["kind"] for remark in told} == {"note"}
    assert all("results are rounded differently" in remark["what"] for remark in told)
    assert all("by up to 1 ulps" in remark["shown"] for remark in told)


def test_a_removed_sample_that_still_works_is_only_missing(runs: Runs) -> None:
    assert runs.gate("", "fewer_samples").returncode == 1
    assert said_of(runs, "fewer_samples", "value.changed") == []


@pytest.mark.parametrize("missing", ["outputs", "samples.json"])
def test_runs_without_their_results_are_compared_by_summaries(
    missing: str, runs: Runs, tmp_path: Path
) -> None:
    """As with the merged results of several machines."""
    shutil.copytree(runs.of(""), tmp_path / "base")
    gone = tmp_path / "base" / missing
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    results = runs.of("formula") / "results.jsonl"
    result = runs.opgate("gate", "--base", tmp_path / "base", "--results", results, folder=runs.project)
    assert result.returncode == 1, result
    assert "value.changed" in runs.refused("formula")


def test_a_damaged_file_of_results_is_named(runs: Runs, tmp_path: Path) -> None:
    shutil.copytree(runs.of(""), tmp_path / "base")
    for file in (tmp_path / "base" / "outputs").iterdir():
        file.write_bytes(file.read_bytes()[:50])
    words = ["gate", "--base", tmp_path / "base", "--results", runs.of("") / "results.jsonl"]
    assert_refused(
        runs.opgate(*words, folder=runs.project), "does not hold the results of a call", "run again"
    )


def test_a_run_on_other_samples_is_no_state(runs: Runs, tmp_path: Path) -> None:
    samples = tmp_path / "samples.json"
    everything = json.loads((runs.of("") / "samples.json").read_text())
    (sample, *_) = everything["opgate_changes::scale"]
    samples.write_text(json.dumps({"opgate_changes::scale": [sample | {"name": "mine"}]}))
    words = ["--check", "value.reference", "--op", "scale", "--output", tmp_path]
    result = runs.opgate("run", "--samples", samples, *words, folder=runs.project)
    assert result.returncode == 0, result
    assert "/mine/contiguous/cpu/value.reference" in (tmp_path / "results.jsonl").read_text()
    accepted = runs.opgate("accept", "--results", tmp_path / "results.jsonl", folder=runs.project)
    assert_refused(accepted, "and not those of the specs")
    nothing = runs.opgate("run", "--samples", tmp_path / "missing.json", *words, folder=runs.project)
    assert_refused(nothing, "missing.json holds no samples")
