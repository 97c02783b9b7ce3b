"""What test_bev_pool.py asks of a GPU holds on the simulated device, too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from harness import OpGate


@pytest.mark.usefixtures("needs_simulated_runtime")
@pytest.mark.skipif(torch.cuda.is_available(), reason="the tests themselves run on the GPU")
def test_the_tests_of_cuda_pass_on_the_simulated_device(opgate: OpGate, source: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cuda"]
    run = opgate("sim", "--seconds", "0", *words, source / "python_tests" / "ops" / "test_bev_pool.py")
    assert run.returncode == 0, run
    assert " passed" in run.stdout and "skipped" not in run.stdout, run
    assert "opgate sim: nothing found" in run.stderr, run
