"""Textures, surfaces and arrays of CUDA on the simulated devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Completed, OpGate

pytestmark = pytest.mark.usefixtures("needs_simulated_runtime")


def run_with(opgate: OpGate, build: Path, mistake: str) -> Completed:
    return opgate("sim", "--seconds", "0", "--", build / "bin" / "opgate_textures", mistake)


def test_fetches_are_as_the_programming_guide_has_them(opgate: OpGate, build: Path) -> None:
    run = run_with(opgate, build, "none")
    assert (run.returncode, run.stdout) == (0, "480 right, 0 wrong\n"), run
    assert run.stderr.split() == ["opgate", "sim:", "nothing", "found"]


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("destroyed", "tex.1d.v4.f32.f32 of 256 bytes at 0x"),
        ("freed", "byte 0 of an allocation of 32 bytes that was freed"),
        ("beyond", "sust.b.2d.b32.trap beyond the end of the surface"),
    ],
)
def test_what_is_wrong_is_found(opgate: OpGate, build: Path, mistake: str, words: str) -> None:
    run = run_with(opgate, build, mistake)
    assert run.returncode == 1, run
    assert words in run.stderr.rpartition("opgate sim: ")[2], run
