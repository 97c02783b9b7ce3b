"""Kernels of Hugging Face's kernel-builder: each build has a hash in its names, and recordings have none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from built_kernel import PROGRAM, build
from harness import OpGate, read_results

SCALE, THIRD = "_kinds_cpu::scale", "_kinds_cpu.layers:Third"


@pytest.mark.long
def test_a_new_build_is_compared_with_the_state_of_the_last_one(opgate: OpGate, tmp_path: Path) -> None:
    folder = tmp_path / "my kernel"
    build(folder, "30dc0ae")
    (folder / "program.py").write_text(PROGRAM)
    recorded = opgate("record", "--", sys.executable, "program.py", folder=folder)
    assert f"  {SCALE}" in recorded.stdout, recorded
    assert f"  {THIRD}" in recorded.stdout, recorded
    written = [path.read_text() for path in [folder / "opgate.toml", *(folder / "recorded").iterdir()]]
    assert 'kernels = ["./build/torch-cpu"]' in written[0]
    assert not any("30dc0ae" in text for text in written)

    without = {"CXX": "no-such-c++"}  # what torch would compile is owed, and takes most of the time
    ran = opgate("run", folder=folder, environment=without)
    assert ran.returncode == 0, ran
    verdicts = read_results(folder / ".opgate").cases
    passed = [case for case, line in verdicts.items() if line["verdict"] == "pass"]
    judged = {(case.split("/")[0], case.split("/")[-1]) for case in passed}
    assert {("scale", "value.layout"), ("scale", "fake.metadata"), (THIRD, "grad.numeric")} <= judged
    assert not any("30dc0ae" in case for case in verdicts)
    accepted = opgate("accept", folder=folder, environment=without)
    assert accepted.returncode == 0, accepted
    assert not any("30dc0ae" in path.read_text() for path in (folder / "ledger").iterdir())

    build(folder, "f18a2c4_dirty")
    same = opgate("gate", folder=folder, environment=without)
    assert same.returncode == 0, same
    build(folder, "99e4d10", 2.1)
    other = opgate("gate", folder=folder, environment=without)
    assert other.returncode == 1, other
    reasons = other.stdout.partition("\nrefused, 1 reason\n")[2]
    assert reasons.split()[0] == "scale"


def test_a_folder_that_is_no_build_is_an_error_that_names_the_builds(opgate: OpGate, tmp_path: Path) -> None:
    variant = build(tmp_path, "30dc0ae")
    (tmp_path / "opgate.toml").write_text('kernels = ["."]\n')
    ran = opgate("list", "ops", folder=tmp_path)
    assert ran.returncode == 2
    assert f"name one of {variant}" in ran.stderr


def test_two_builds_of_a_kernel_are_an_error(opgate: OpGate, tmp_path: Path) -> None:
    first = build(tmp_path / "first", "30dc0ae")
    second = build(tmp_path / "second", "99e4d10")
    (tmp_path / "opgate.toml").write_text(f'kernels = ["{first}", "{second}"]\n')
    ran = opgate("list", "ops", folder=tmp_path)
    assert ran.returncode == 2
    assert f"two builds of _kinds_cpu, {first} and {second}" in ran.stderr


@pytest.mark.parametrize("text", ["{}", "[]", "not JSON", '{"id": 5, "name": "kinds"}'])
def test_metadata_without_its_fields_is_an_error(opgate: OpGate, tmp_path: Path, text: str) -> None:
    variant = build(tmp_path, "30dc0ae")
    (variant / "metadata.json").write_text(text)
    (tmp_path / "opgate.toml").write_text(f'kernels = ["{variant}"]\n')
    ran = opgate("list", "ops", folder=tmp_path)
    assert ran.returncode == 2
    assert f'{variant}, which has no metadata.json with an "id" and a "name"' in ran.stderr
