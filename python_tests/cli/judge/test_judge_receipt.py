"""opgate judge --receipt: what it records, and that a changed byte is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from conftest import Judge
from harness import OpGate, assert_refused
from test_signed_evidence import make_key

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen here")


@pytest.fixture(scope="module")
def signed(judge: Judge, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a signed receipt, the files that it names, and a list of signers."""
    folder = tmp_path_factory.mktemp("receipt")
    for name in ("reference.py", "honest_view.py"):
        shutil.copy(source / "fixtures" / "cheats" / "square" / name, folder)
    key = make_key(folder, "ann")
    (folder / "signers").write_text(f"ann@example.org {key.with_suffix('.pub').read_text()}")
    words = ["honest_view.py", "--reference", "reference.py", "--no-compile", "--receipt", "receipt.json"]
    run = judge(*words, "--sign", "ann", folder=folder)
    assert run.returncode == 0, run
    return folder


def test_a_receipt_has_what_was_judged(signed: Path) -> None:
    receipt = json.loads((signed / "receipt.json").read_text())
    record = receipt["candidates"][0]
    for named, file in ((record["files"], "honest_view.py"), (receipt["reference"]["files"], "reference.py")):
        digest = hashlib.sha256((signed / file).read_bytes()).hexdigest()
        assert named == [{"file": str(signed / file), "sha256": digest}]
    assert record["verdict"]["verdict"] == "correct"
    assert record["verdict"]["speed"]["reference"]["ratio"] > 0
    assert len(record["calls"]) == record["verdict"]["calls"]
    assert all(len(call["arguments"]) == len(call["results"]) == 64 for call in record["calls"])
    assert set(receipt["versions"]) == {"opgate", "torch", "python"}


def test_a_signed_receipt_is_valid(opgate: OpGate, signed: Path) -> None:
    run = opgate("judge", "--verify", "receipt.json", "--signers", "signers", folder=signed)
    assert run.returncode == 0, run
    assert run.stdout.startswith("signed     ann@example.org\n")
    assert f"correct    {signed / 'honest_view.py'}:ModelNew\n" in run.stdout


def test_a_changed_byte_is_refused(opgate: OpGate, signed: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(signed, tmp_path / "copy")
    content = bytearray((copy / "receipt.json").read_bytes())
    content[len(content) // 2] ^= 1
    (copy / "receipt.json").write_bytes(content)
    run = opgate("judge", "--verify", "receipt.json", "--signers", "signers", folder=copy)
    assert run.returncode == 1
    assert run.stdout == ""
    assert "it has changed since ann@example.org signed it" in run.stderr


def test_a_changed_candidate_is_reported(opgate: OpGate, signed: Path) -> None:
    candidate = signed / "honest_view.py"
    before = candidate.read_text()
    candidate.write_text(before + "\n")
    try:
        run = opgate("judge", "--verify", "receipt.json", "--signers", "signers", folder=signed)
    finally:
        candidate.write_text(before)
    assert run.returncode == 1
    assert f"changed    {candidate}\n" in run.stdout


def test_wrong_usage(opgate: OpGate, signed: Path) -> None:
    assert_refused(opgate("judge", "--verify", "receipt.json", folder=signed), "whose signatures count?")
    words = ["honest_view.py", "--reference", "reference.py", "--sign", "ann"]
    assert_refused(opgate("judge", *words, folder=signed), "name its file with --receipt")
