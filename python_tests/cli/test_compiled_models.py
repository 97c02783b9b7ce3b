"""Models whose compiled code rounds in its own way are not accused, and wrong ones among them are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import OpGate, read_results, wrong_operators

pytestmark = pytest.mark.long

COMPARED = ("aoti.python", "aoti.cpp", "aoti.dynamic", "compile.equal")


@pytest.mark.parametrize("device", ["cpu", pytest.param("sim", marks=pytest.mark.exhaustive)])
def test_compiled_code_may_round_in_its_own_way_and_not_be_wrong(
    opgate: OpGate, source: Path, tmp_path: Path, request: pytest.FixtureRequest, device: str
) -> None:
    if device == "sim":
        pytest.importorskip("triton")
        request.getfixturevalue("needs_simulated_runtime")
    wrong = wrong_operators(source, "compiled")
    words = ["--op", "Block*", "--check", *COMPARED, "--device", device, "--output", tmp_path]
    run = opgate("run", *words, folder=source / "fixtures" / "compiled", timeout=1800)
    verdicts = {case: line["verdict"] for case, line in read_results(tmp_path).cases.items()}
    call = f"float32/2x5x16/contiguous/{device}"
    wanted = {f"Block/{call}/{check}": "pass" for check in COMPARED}
    wanted |= {f"{model}/{call}/{check}": "fail" for model in wrong for check in COMPARED}
    assert verdicts == wanted, run
    if device == "sim":
        return
    (package,) = (tmp_path / "packages").glob("*.pt2")
    by_hand = opgate("aoti", package)
    lines = {line.split()[1].split("/")[0]: line for line in by_hand.stdout.splitlines()[1:-1]}
    assert by_hand.returncode == 1
    assert lines["Block"].endswith("equals eager Python")
    for model in wrong:
        assert lines[model].startswith("FAIL"), by_hand
