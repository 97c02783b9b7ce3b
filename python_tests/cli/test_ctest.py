"""opgate_discover_tests: what it tells ctest of each test; only listed, not run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def tests(build: Path) -> dict[str, dict[str, Any]]:
    """The properties of each operator's test, by its name."""
    beside_python = Path(sys.executable).parent
    ctest = shutil.which("ctest", path=f"{beside_python}{os.pathsep}{os.environ['PATH']}")
    assert ctest, "ctest comes with cmake"
    command = [ctest, "--test-dir", build, "-R", r"^ops\.[A-Za-z_]", "--show-only=json-v1"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {
        test["name"]: {entry["name"]: entry["value"] for entry in test["properties"]}
        for test in told["tests"]
        if test["name"].endswith((".cpu", ".cuda"))
    }


def test_each_operator_group_and_device_is_a_test(tests: dict[str, dict[str, Any]]) -> None:
    assert {"ops.layer_norm.value.cpu", "ops.layer_norm.aoti.cpu", "ops.add.Tensor.value.cuda"} <= set(tests)


def test_a_test_on_a_gpu_takes_one(tests: dict[str, dict[str, Any]]) -> None:
    for name, properties in tests.items():
        on_gpu = name.endswith(".cuda")
        assert ("gpu" in properties["LABELS"]) == on_gpu
        assert ("RESOURCE_GROUPS" in properties) == on_gpu, name
    groups = tests["ops.layer_norm.value.cuda"]["RESOURCE_GROUPS"]
    assert groups == [{"requirements": [{".type": "gpus", "slots": 1}]}]


def test_what_takes_longest_begins_first_and_none_runs_for_ever(tests: dict[str, dict[str, Any]]) -> None:
    assert all(properties["TIMEOUT"] == 900 for properties in tests.values())
    assert tests["ops.layer_norm.aoti.cpu"]["COST"] > tests["ops.layer_norm.registration.cpu"]["COST"] >= 1
    assert "slow" in tests["ops.layer_norm.compile.cpu"]["LABELS"]
    assert "slow" not in tests["ops.layer_norm.value.cpu"]["LABELS"]
