"""opgate gate --ledger-of COMMIT: a change is judged by the ledger and the waivers that it did not write."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from changes import Runs
from harness import assert_refused, git


@pytest.fixture
def repository(runs: Runs, tmp_path: Path) -> Path:
    """A commit with the ledger of the first state, and results of a change whose own ledger accepts it."""
    folder = tmp_path / "a repository"
    folder.mkdir()
    text = (runs.project / "opgate.toml").read_text()
    (folder / "opgate.toml").write_text(text)
    (folder / "waivers.toml").write_text("")
    for name, state in (("first", ""), ("head", "no_tag")):
        lines = (runs.of(state) / "results.jsonl").read_text().splitlines()
        header = json.loads(lines[0])
        header["filter"]["checks"] = []
        (folder / f"{name}.jsonl").write_text("\n".join([json.dumps(header), *lines[1:], ""]))
    assert runs.opgate("accept", "--results", "first.jsonl", folder=folder).returncode == 0
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "opgate.toml", "waivers.toml", "ledger")
    git(folder, "commit", "--quiet", "--message", "the accepted state")
    assert runs.opgate("accept", "--yes", "--results", "head.jsonl", folder=folder).returncode == 0
    return folder


def test_its_own_ledger_accepts_it_and_that_of_the_base_does_not(runs: Runs, repository: Path) -> None:
    words = ["gate", "--results", "head.jsonl"]
    assert runs.opgate(*words, folder=repository).returncode == 0
    result = runs.opgate(*words, "--ledger-of", "main", folder=repository)
    assert result.returncode == 1, result
    assert "the tag pt2_compliant_tag is gone" in result.stdout
    assert "base: ledger ledger of main (" in result.stdout


def test_its_own_waivers_do_not_count_and_are_told(runs: Runs, repository: Path) -> None:
    from test_gate import LATER

    (repository / "waivers.toml").write_text(
        '[[waiver]]\ncheck = "promise.weakened"\nop = "weigh"\nreason = "the tag comes back"\n'
        f'issue = "https://example.org/2"\nexpires = {LATER}\n'
    )
    result = runs.opgate("gate", "--results", "head.jsonl", "--ledger-of", "HEAD", folder=repository)
    assert result.returncode == 1, result
    assert "the tag pt2_compliant_tag is gone" in result.stdout
    assert "the waiver of promise.weakened is new" in result.stdout


def test_it_names_no_signer_of_its_own_evidence(runs: Runs, repository: Path) -> None:
    config = repository / "opgate.toml"
    config.write_text(config.read_text() + 'signers = "signers"\n')
    signers = repository / "signers"
    signers.write_text("# one a line\nann@example.org ssh-ed25519 AAAA\nbob@example.org ssh-ed25519 BBBB\n")
    git(repository, "add", "opgate.toml", "signers")
    git(repository, "commit", "--quiet", "--message", "evidence is signed")
    words = ["gate", "--results", "first.jsonl", "--ledger-of", "HEAD"]
    result = runs.opgate(*words, folder=repository)
    assert (result.returncode, "signers.changed" in result.stdout) == (0, False), result

    signers.write_text("ann@example.org ssh-ed25519 AAAA\nmallory@example.org ssh-ed25519 CCCC\n")
    result = runs.opgate(*words, folder=repository)
    assert result.returncode == 1, result
    assert "a signer of evidence is new" in result.stdout
    assert "mallory@example.org" in result.stdout
    assert "a signer of evidence was removed" in result.stdout
    assert "ann@example.org" not in result.stdout

    config.write_text(config.read_text().replace('signers = "signers"\n', ""))
    result = runs.opgate(*words, folder=repository)
    assert result.returncode == 1, result
    assert "evidence counts without a signature now" in result.stdout


def test_what_is_no_commit_is_named(runs: Runs, repository: Path) -> None:
    words = ["gate", "--results", "head.jsonl", "--ledger-of"]
    assert_refused(runs.opgate(*words, "no/such", folder=repository), "no/such: ", "no such commit")
    shutil.rmtree(repository / ".git")
    assert_refused(runs.opgate(*words, "main", folder=repository), "is in no git repository")
