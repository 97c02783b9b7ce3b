"""opgate evidence --sign: evidence counts as a signer of the project has signed it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from gpu_runs import as_on_gpu, of_cuda
from harness import Completed, OpGate, assert_refused

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen here")

RUN = ["run", "--check", "value.dtype"]
MODEL = "evidence: NVIDIA H200"
FILE = Path("evidence", "identity_conv.toml")


def make_key(folder: Path, name: str) -> Path:
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key], check=True)
    return key


def write_signers(project: Path, **keys: Path) -> None:
    lines = [f"{name}@example.org {key.with_suffix('.pub').read_text()}" for name, key in keys.items()]
    (project / "signers").write_text("# whose evidence counts\n" + "".join(lines))


@pytest.fixture(scope="module")
def template(opgate: OpGate, new_project: Callable[..., Path]) -> Path:
    """A project that names Ann as its signer, and has a finished run."""
    project = new_project(
        libraries=["libopgate_ops.so"],
        specs=["libopgate_identity_specs.so"],
        evidence="evidence",
        signers="signers",
    )
    write_signers(project, ann=make_key(project.parent, "ann"))
    assert opgate(*RUN, folder=project).returncode == 0
    return project


@pytest.fixture
def project(template: Path, tmp_path: Path, has_gpu: bool) -> Path:
    """A copy of the project for one test; ann's key lies beside it."""
    if has_gpu:
        pytest.skip("the cuda cases run here")
    shutil.copy(template.parent / "ann", tmp_path)
    return shutil.copytree(template, tmp_path / "a copy")


def keep(opgate: OpGate, project: Path, *words: str | Path) -> Completed:
    results = project / "from the gpu.jsonl"
    if not results.exists():
        as_on_gpu(project)
    return opgate("evidence", "--results", results, *words, folder=project)


def reasons(opgate: OpGate, project: Path, **environment: str) -> set[tuple[str, str]]:
    """Verdicts and reasons of the cases on CUDA, in a new run."""
    assert opgate(*RUN, folder=project, environment=environment).returncode == 0
    return {(line["verdict"], line["reason"].split("; ")[-1]) for line in of_cuda(project)}


def test_evidence_counts_with_its_signer(opgate: OpGate, project: Path) -> None:
    said = keep(opgate, project, "--sign", project.parent / "ann")
    assert said.returncode == 0, said
    assert f"signed     1 files with {project.parent / 'ann'}\n" in said.stdout
    assert reasons(opgate, project) == {("pass", f"{MODEL}, 2026-11-20, signed by ann@example.org")}
    # The signer may add to evidence that the signer has signed.
    assert keep(opgate, project, "--sign", project.parent / "ann").returncode == 0


def test_evidence_that_was_edited_does_not_count(opgate: OpGate, project: Path) -> None:
    keep(opgate, project, "--sign", project.parent / "ann")
    file = project / FILE
    file.write_text(file.read_text().replace("2026-11-20", "2026-11-21"))
    why = "it has changed since ann@example.org signed it, or the key was not valid then"
    assert reasons(opgate, project) == {("owed", f"{MODEL} does not count: {why}")}


def test_evidence_without_a_signature_does_not_count(opgate: OpGate, project: Path) -> None:
    said = keep(opgate, project)
    note = "note       identity_conv: not signed, so it does not count: run this again with --sign KEY\n"
    assert note in said.stdout
    assert reasons(opgate, project) == {("owed", f"{MODEL} does not count: it is not signed")}
    assert keep(opgate, project, "--sign", project.parent / "ann").returncode == 0


def test_nobody_signs_what_another_machine_has_shown(opgate: OpGate, project: Path) -> None:
    keep(opgate, project)
    file = project / FILE
    file.write_text(file.read_text().replace("NVIDIA H200", "NVIDIA H100"))
    refused = keep(opgate, project, "--sign", project.parent / "ann")
    assert_refused(refused, str(FILE), "has older evidence", "it is not signed", "ssh-keygen -Y sign")
    assert "NVIDIA H200" not in file.read_text()


def test_new_evidence_takes_an_older_signature_away(opgate: OpGate, project: Path) -> None:
    keep(opgate, project, "--sign", project.parent / "ann")
    as_on_gpu(project, failing="value.dtype")
    keep(opgate, project)
    assert not Path(f"{project / FILE}.sig").exists()


def test_a_signature_of_a_stranger_does_not_count(opgate: OpGate, project: Path) -> None:
    bob = make_key(project.parent, "bob")
    assert_refused(keep(opgate, project, "--sign", bob), "by none of the signers", "add the key to that file")
    ((_, why),) = reasons(opgate, project)
    assert why == f"{MODEL} does not count: its signature is by none of the signers in {project / 'signers'}"


def test_a_signature_for_another_purpose_does_not_count(opgate: OpGate, project: Path) -> None:
    keep(opgate, project)
    words = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", project.parent / "ann", project / FILE]
    subprocess.run(words, check=True, capture_output=True)
    ((verdict, _),) = reasons(opgate, project)
    assert verdict == "owed"


def test_without_the_program_nothing_is_verified(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    keep(opgate, project, "--sign", project.parent / "ann")
    elsewhere = tmp_path / "bin"
    elsewhere.mkdir()
    for program in ("sh", "env", "g++", "c++", "gcc", "cc", "as", "ld"):
        if found := shutil.which(program):
            (elsewhere / program).symlink_to(found)
    ((verdict, why),) = reasons(opgate, project, PATH=os.fspath(elsewhere))
    assert verdict == "owed"
    assert "there is no ssh-keygen here: install OpenSSH" in why


def test_a_key_that_is_none_is_refused(opgate: OpGate, project: Path) -> None:
    assert_refused(keep(opgate, project, "--sign", project / "no such key"), "there is no such key")


def test_a_project_without_signers_is_told_how_to_name_them(opgate: OpGate, project: Path) -> None:
    config = project / "opgate.toml"
    config.write_text(config.read_text().replace('signers = "signers"\n', ""))
    assert_refused(
        keep(opgate, project, "--sign", project.parent / "ann"), 'add signers = "fixtures/signers"'
    )
