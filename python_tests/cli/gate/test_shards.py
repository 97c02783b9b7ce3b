"""--shard divides a plan into parts that together cover all of it; `opgate merge` refuses anything less."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import FASTEST, OpGate, assert_refused, complaints, read_results

FEW = ["--check", "value", "effect", "--device", "cpu"]


@pytest.fixture(scope="module")
def project(identity_project: Callable[[], Path]) -> Path:
    return identity_project()


@pytest.fixture(scope="module")
def shards(opgate: OpGate, project: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The results of three shards of one run."""
    folders = [tmp_path_factory.mktemp("shard") for _ in range(3)]
    for number, folder in enumerate(folders, 1):
        shard = ["--shard", f"{number}/3", "--output", folder]
        result = opgate("run", *FEW, *shard, folder=project)
        assert (result.returncode, complaints(result)) == (0, [])
    return [folder / "results.jsonl" for folder in folders]


@pytest.mark.parametrize("count", [1, 2, 7, 5000])
def test_all_shards_together_are_the_plan_and_none_overlaps(
    count: int, opgate: OpGate, project: Path
) -> None:
    everything = opgate("list", "cases", *FEW, folder=project).stdout.splitlines()
    parts = [
        opgate("list", "cases", *FEW, "--shard", f"{index}/{count}", folder=project).stdout.splitlines()
        for index in {1, 2, count // 2, count - 1, count} - {0, count + 1}
    ]
    together = [case for part in parts for case in part]
    assert len(set(together)) == len(together)
    assert set(together) <= set(everything)
    if count <= 2:
        assert set(together) == set(everything)


def test_a_shard_runs_what_it_lists(opgate: OpGate, project: Path, shards: list[Path]) -> None:
    for number, file in enumerate(shards, 1):
        listed = opgate("list", "cases", *FEW, "--shard", f"{number}/3", folder=project).stdout.splitlines()
        results = read_results(file.parent)
        assert sorted(results.cases) == sorted(listed)
        assert (results.header["shard"], results.header["cases"]) == (f"{number}/3", len(listed))


def test_a_shard_of_less_than_a_call_is_complete_with_no_case(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    result = opgate("run", *FASTEST, "--shard", "999/999", "--output", tmp_path, folder=project)
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1].startswith("0 passed, 0 failed, 0 owed in ")
    assert read_results(tmp_path).finished


@pytest.mark.parametrize("shard", ["0/3", "4/3", "x", "3", "1/", "-1/3"])
@pytest.mark.parametrize("command", [["run"], ["list", "cases"]], ids=["run", "list"])
def test_what_is_no_shard_is_refused(command: list[str], shard: str, opgate: OpGate, project: Path) -> None:
    result = opgate(*command, f"--shard={shard}", folder=project)
    assert_refused(result, f"'{shard}' is no shard", "I/N", "2/3")


def test_only_cases_are_listed_by_shard(opgate: OpGate, project: Path) -> None:
    assert_refused(opgate("list", "ops", "--shard", "1/2", folder=project), "--shard is for", "cases")


def test_a_shard_is_resumed_as_itself_only(
    opgate: OpGate, project: Path, shards: list[Path], tmp_path: Path
) -> None:
    cut = "".join(shards[1].read_text().splitlines(keepends=True)[:20])
    file = tmp_path / "results.jsonl"
    for other in ([], ["--shard", "1/3"]):
        file.write_text(cut)
        result = opgate("run", *FEW, *other, "--resume", "--output", tmp_path, folder=project)
        assert_refused(result, str(file), "another plan", "shard 2/3")
    resumed = opgate("run", *FEW, "--shard", "2/3", "--resume", "--output", tmp_path, folder=project)
    assert (resumed.returncode, complaints(resumed)) == (0, [])
    assert read_results(tmp_path).cases == read_results(shards[1].parent).cases


def test_merged_shards_read_as_one_run(
    opgate: OpGate, project: Path, shards: list[Path], tmp_path: Path
) -> None:
    whole = opgate("run", *FEW, "--output", tmp_path / "whole", folder=project)
    merged = opgate("merge", *reversed(shards), "--output", tmp_path / "merged")
    assert (merged.returncode, merged.stderr) == (0, "")
    one, other = read_results(tmp_path / "whole"), read_results(tmp_path / "merged")
    assert one.cases == other.cases
    same = (
        "plan",
        "cases",
        "torch",
        "opgate",
        "engine",
        "libraries",
        "shard",
        "filter",
        "capability",
        "subjects",
    )
    assert all(one.header[key] == other.header[key] for key in same)
    assert one.finished is not None
    assert other.finished is not None
    assert one.finished["worst"] == other.finished["worst"]
    run_lines = whole.stdout[
        whole.stdout.index("\n\n") + 1 :
    ].splitlines()  # without the lines about the plan
    merge_lines = merged.stdout.splitlines()
    assert merge_lines[:-1] == run_lines[:-1]
    assert merge_lines[-1] == run_lines[-1].rpartition(" in ")[0] + " from 3 shards"


def test_a_merge_exits_as_the_run_would_and_shows_its_findings(
    opgate: OpGate, new_project: Callable[..., Path], tmp_path: Path
) -> None:
    folder = new_project(libraries=["libopgate_wrong.so"], specs=["libopgate_wrong_specs.so"])
    words = ["run", "--check", "value.reference"]
    files = [tmp_path / str(number) / "results.jsonl" for number in (1, 2)]
    exits = [
        opgate(*words, "--shard", f"{n}/2", "--output", f.parent, folder=folder).returncode
        for n, f in enumerate(files, 1)
    ]
    assert 1 in exits
    merged = opgate("merge", *files, "--output", tmp_path / "merged")
    assert merged.returncode == 1
    assert "plus on cpu, wrong values: the result is not the reference's" in merged.stdout
    assert merged.stdout.splitlines()[-1] == "4 passed, 8 failed, 0 owed from 2 shards"


def altered(file: Path, folder: Path, **changes: object) -> Path:
    """A copy of a results file with another header."""
    header, *lines = file.read_text().splitlines()
    copy = folder / "altered.jsonl"
    copy.write_text("\n".join([json.dumps({**json.loads(header), **changes}), *lines, ""]))
    return copy


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("plan", "plan"),
        ("torch", "torch"),
        ("opgate", "version of OpGate"),
        ("engine", "build of OpGate"),
        ("libraries", "build of the libraries"),
    ],
)
def test_shards_of_different_runs_are_refused(
    key: str, words: str, opgate: OpGate, shards: list[Path], tmp_path: Path
) -> None:
    other = altered(shards[1], tmp_path, **{key: "another"})
    result = opgate("merge", shards[0], other, shards[2], "--output", tmp_path / "merged")
    assert_refused(result, str(shards[0]), str(other), f"they differ in {words} (", "another")
    assert not (tmp_path / "merged").exists()


def test_shards_of_processors_with_other_vector_instructions_are_one_run(
    opgate: OpGate, project: Path, shards: list[Path], tmp_path: Path
) -> None:
    """Runners of one CI may differ so. The gate compares bits only if they are comparable, and says so."""
    own = read_results(shards[0].parent).header["capability"]
    other = altered(shards[1], tmp_path, capability="AVX1024")
    merged = opgate("merge", shards[0], other, shards[2], "--output", tmp_path / "merged")
    assert (merged.returncode, merged.stderr) == (0, "")
    both = " and ".join(sorted([own, "AVX1024"]))
    assert read_results(tmp_path / "merged").header["capability"] == both

    opgate("run", *FEW, "--output", tmp_path / "whole", folder=project)
    results = tmp_path / "merged" / "results.jsonl"
    gate = opgate("gate", "--base", tmp_path / "whole", "--results", results, folder=project)
    assert gate.returncode == 0, gate
    assert re.search(rf"{own} and are not compared with those of torch \S+, {both}", gate.stdout), gate.stdout


def test_a_missing_shard_is_named(opgate: OpGate, shards: list[Path], tmp_path: Path) -> None:
    result = opgate("merge", shards[0], shards[2], "--output", tmp_path / "merged")
    assert_refused(result, "missing: shard 2/3")
    assert_refused(opgate("merge", shards[1], "--output", tmp_path / "merged"), "shard 1/3, shard 3/3")


def test_overlapping_shards_are_refused(opgate: OpGate, shards: list[Path], tmp_path: Path) -> None:
    result = opgate("merge", *shards, shards[1], "--output", tmp_path / "merged")
    assert_refused(result, "overlap", "both are shard 2/3", str(shards[1]))
    other_cut = altered(shards[1], tmp_path, shard="2/4")
    result = opgate("merge", shards[0], other_cut, shards[2], "--output", tmp_path / "merged")
    assert_refused(result, "shard 1/3", "shard 2/4", "cut the plan differently")


def lines_with_verdicts(file: Path) -> list[str]:
    """The header, verdicts and last line of a results.jsonl, with their line ends."""
    lines = file.read_text().splitlines(keepends=True)
    return [line for line in lines if not {"call", "defect", "row"} & set(json.loads(line))]


def test_an_unfinished_shard_is_refused_by_name(opgate: OpGate, shards: list[Path], tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    lines = lines_with_verdicts(shards[1])
    cut.write_text("".join(lines[:11]))
    result = opgate("merge", shards[0], cut, shards[2], "--output", tmp_path / "merged")
    assert_refused(result, f"{cut} is unfinished: 10 of its {len(lines) - 2} cases", "--shard 2/3 --resume")


def test_a_case_without_a_verdict_is_a_gap(opgate: OpGate, shards: list[Path], tmp_path: Path) -> None:
    lines = lines_with_verdicts(shards[1])
    gap = tmp_path / "gap.jsonl"
    gap.write_text("".join(lines[:5] + lines[6:]))
    result = opgate("merge", shards[0], gap, shards[2], "--output", tmp_path / "merged")
    assert_refused(result, f"{gap} has verdicts on {len(lines) - 3} of its {len(lines) - 2} cases")


def test_a_case_with_two_verdicts_is_refused(opgate: OpGate, shards: list[Path], tmp_path: Path) -> None:
    lines = lines_with_verdicts(shards[1])
    foreign = lines_with_verdicts(shards[0])[3]
    for twice in (lines[4], foreign):
        file = tmp_path / "twice.jsonl"
        file.write_text("".join([*lines[:9], twice, *lines[10:]]))
        result = opgate("merge", shards[0], file, shards[2], "--output", tmp_path / "merged")
        assert_refused(result, f"{file} has a second verdict on {json.loads(twice)['case']}")


def test_what_is_no_results_file_is_refused(opgate: OpGate, shards: list[Path], tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("notes\n")
    assert_refused(opgate("merge", shards[0], text, "--output", tmp_path / "m"), f"{text}:1: not a line")
    gone = tmp_path / "gone.jsonl"
    assert_refused(opgate("merge", shards[0], gone, "--output", tmp_path / "m"), str(gone), "No such file")


def test_a_merge_does_not_overwrite_what_it_reads(opgate: OpGate, shards: list[Path]) -> None:
    before = shards[0].read_text()
    result = opgate("merge", *shards, "--output", shards[0].parent)
    assert_refused(result, str(shards[0]), "would be overwritten", "--output")
    assert shards[0].read_text() == before


# Parts of equal cost


@pytest.fixture(scope="module")
def earlier(
    opgate: OpGate, project: Path, shards: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The merged results of an earlier run."""
    folder = tmp_path_factory.mktemp("earlier")
    assert opgate("merge", *shards, "--output", folder).returncode == 0
    return folder / "results.jsonl"


def test_a_run_says_what_its_calls_took_and_merging_adds_it_up(shards: list[Path], earlier: Path) -> None:
    parts = [read_results(file.parent).finished for file in shards]
    whole = read_results(earlier.parent).finished
    assert whole is not None
    assert set(whole["costs"]) == {"identity_conv/cpu"}
    for index in (0, 1):  # seconds, calls
        together = sum(part["costs"]["identity_conv/cpu"][index] for part in parts if part)
        assert whole["costs"]["identity_conv/cpu"][index] == pytest.approx(together)
        assert together > 0


def test_shards_by_cost_are_the_plan_and_none_overlaps(opgate: OpGate, project: Path, earlier: Path) -> None:
    everything = opgate("list", "cases", *FEW, folder=project).stdout.splitlines()
    together: list[str] = []
    for index in (1, 2, 3):
        words = ["--shard", f"{index}/3", "--costs", earlier]
        part = opgate("list", "cases", *FEW, *words, folder=project).stdout.splitlines()
        assert len(part) > len(everything) / 6
        together += part
    assert sorted(together) == sorted(everything)


def test_shards_by_cost_merge_with_their_like_only(
    opgate: OpGate, project: Path, shards: list[Path], earlier: Path, tmp_path: Path
) -> None:
    files = [tmp_path / str(index) for index in (1, 2)]
    for index, folder in enumerate(files, 1):
        words = ["--shard", f"{index}/2", "--costs", earlier, "--output", folder]
        assert opgate("run", *FASTEST, *words, folder=project).returncode == 0
    results = [folder / "results.jsonl" for folder in files]
    assert opgate("merge", *results, "--output", tmp_path / "merged").returncode == 0
    other = opgate("run", *FASTEST, "--shard", "2/2", "--output", files[1], folder=project)
    assert other.returncode == 0
    mixed = opgate("merge", *results, "--output", tmp_path / "mixed")
    assert_refused(mixed, "are not of one run", "costs that the shards are cut by")


def test_costs_that_are_none_are_refused(
    opgate: OpGate, project: Path, shards: list[Path], tmp_path: Path
) -> None:
    assert_refused(opgate("run", "--costs", shards[0], folder=project), "--costs requires --shard")
    words = ["run", *FASTEST, "--shard", "1/2", "--costs"]
    missing = opgate(*words, tmp_path / "no.jsonl", folder=project)
    assert_refused(missing, "cannot read", "no.jsonl")
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(shards[0].read_text().splitlines(keepends=True)[:-1]))
    assert_refused(opgate(*words, cut, folder=project), "is unfinished", "what its calls cost")
