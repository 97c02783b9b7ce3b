"""A spec that contradicts itself or its operator's schema is refused with file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import OpGate, assert_refused, read_results

REFUSED = {
    "dtypes": ["names no dtypes: add spec.dtypes(floating())"],
    "reference": ["names no reference: add spec.reference("],
    "accuracy": ["names no accuracy: add spec.accuracy(exact())"],
    "sample": ["names no sample: add spec.sample("],
    "named first": ['.named("too early") follows no sample'],
    "too many": ["the sample has 2 arguments, but the schema takes 1: opgate_ops::identity_conv(Tensor x)"],
    "too few": ["the sample gives no value for 'x', which has no default", "identity_conv(Tensor x)"],
    "wrong type": ["the sample gives 'x' a float, but the schema wants Tensor"],
    "slash": ["sample 'a/b' has a '/' in it", ".named("],
    "slash in a name": ["a/b", "'/'"],
    "same name": ["two samples of opgate_ops::identity_conv are named '4'", ".named("],
    "no operator": ["no loaded library defines opgate_ops::nothing", "`libraries`"],
    "two specs": ["opgate_ops::identity_conv has a spec already, at ", "other.cpp:7"],
    "throws": ["a mistake of its author"],
}


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    return new_project(libraries=["libopgate_ops.so"], specs=["libopgate_bad_spec_specs.so"])


@pytest.mark.parametrize("wrong", REFUSED)
def test_a_wrong_spec_is_refused_with_its_place(wrong: str, opgate: OpGate, project: Path) -> None:
    result = opgate("list", "ops", folder=project, environment={"BAD_SPEC": wrong})
    line = assert_refused(result, *REFUSED[wrong])
    assert re.search(r"bad_spec/specs\.cpp:\d+", line)


def test_the_same_spec_without_a_mistake_is_taken(opgate: OpGate, project: Path) -> None:
    result = opgate("list", "ops", folder=project, environment={"BAD_SPEC": "nothing"})
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split()[:4] == ["identity_conv", "cpu", "1", "samples"]


def test_a_reference_that_is_no_operator_is_the_spec_s_fault_in_each_case(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    words = ["run", "--check", "value.reference", "--output", tmp_path]
    result = opgate(*words, folder=project, environment={"BAD_SPEC": "unknown reference"})
    assert result.returncode == 2
    of_reference = read_results(tmp_path).cases.values()
    assert {line["verdict"] for line in of_reference} == {"invalid"}
    assert all("nowhere::nothing" in line["reason"] for line in of_reference)
    assert f"{len(of_reference)} with a broken spec" in result.stdout.splitlines()[-1]


def test_an_operator_whose_own_dtypes_differ_from_the_spec_fails_and_the_spec_is_not_blamed(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    """The spec without a mistake promises float32 alone; identity_conv takes three more."""
    words = ["run", "--check", "value.dtype", "--output", tmp_path]
    result = opgate(*words, folder=project, environment={"BAD_SPEC": "nothing"})
    failed = [
        case.split("/")[1] for case, line in read_results(tmp_path).cases.items() if line["verdict"] == "fail"
    ]
    assert result.returncode == 1
    assert sorted(failed) == ["bfloat16", "float16", "float64"]
