"""Specs of TorchBind classes with a model in Python, on IdentityConv of ops/, without its spec in C++."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

SPEC = """
import opgate


class Channels:
    def __init__(self, channels):
        self.channels = channels

    def forward(self, x):
        if x.shape[-3] != self.channels:
            raise ValueError("another number of channels")
        return x.clone()

    def get_channels(self):
        return self.channels


@opgate.class_spec("opgate_ops::IdentityConv")
def identity_conv(spec: opgate.ClassSpec) -> None:
    spec.dtypes(*opgate.floating(), device="cpu")
    spec.model(Channels).construct(3).construct(1, named="one")
    spec.method("forward", (opgate.uniform(2, 3, 4, 5),), (opgate.uniform(1, 7, 6),))
    spec.method("get_channels")
"""


@pytest.fixture
def run(opgate: OpGate, new_project: Callable[..., Path]) -> Callable[[str], tuple[Completed, Path]]:
    """Runs the checks of a class with a module of this text."""

    def run_checks(text: str) -> tuple[Completed, Path]:
        folder = new_project(libraries=["libopgate_ops.so"], python=["class_specs"], python_path=["."])
        (folder / "class_specs.py").write_text(text)
        words = ["--op", "IdentityConv", "--check", "class.state", "class.pickle", "class.flatten"]
        return opgate("run", *words, folder=folder), folder / ".opgate"

    return run_checks


def test_a_class_that_behaves_as_its_model_passes(run: Callable[[str], tuple[Completed, Path]]) -> None:
    result, output = run(SPEC)
    assert result.returncode == 0, result
    cases = read_results(output).cases
    assert {line["verdict"] for line in cases.values()} == {"pass"}
    assert {case.split("/")[2] for case in cases} == {"3", "one"}
    assert {case.rpartition("/")[2] for case in cases} == {"class.state", "class.pickle", "class.flatten"}


@pytest.mark.parametrize(
    ("word", "other", "told"),
    [
        ("return self.channels", "return self.channels + 1", "get_channels()"),
        ('raise ValueError("another number of channels")', "return x", "forward("),
        ("return x.clone()", 'raise ValueError("never")', "ValueError: never"),
        ("return self.channels", 'return "three"', "the model gives a str, but the class gives int"),
    ],
)
def test_a_class_that_behaves_otherwise_fails(
    run: Callable[[str], tuple[Completed, Path]], word: str, other: str, told: str
) -> None:
    result, output = run(SPEC.replace(word, other))
    assert result.returncode == 1, result
    failed = [line for case, line in read_results(output).cases.items() if case.endswith("/class.state")]
    assert {line["verdict"] for line in failed} == {"fail"}
    assert told in result.stdout


@pytest.mark.parametrize(
    ("word", "other", "told"),
    [
        ("spec.model(Channels).construct", "spec.construct", "names no model: add spec.model(Model)"),
        ('spec.method("get_channels")', 'spec.method("get_widths")', "has no method 'get_widths'"),
        ("(opgate.uniform(1, 7, 6),)", "opgate.uniform(1, 7, 6)", "each set of arguments is a tuple"),
        ("(opgate.uniform(1, 7, 6),)", "(1,)", "the sample gives 'x'"),
        ('spec.method("get_channels")', 'spec.method("forward")', "forward is described already, at"),
        (".construct(3)", '.construct("three")', "the sample gives"),
        (
            "opgate_ops::IdentityConv",
            "opgate_ops::IdentityCone",
            "registers the class opgate_ops::IdentityCone",
        ),
    ],
)
def test_a_contradiction_is_refused(
    run: Callable[[str], tuple[Completed, Path]], word: str, other: str, told: str
) -> None:
    assert_refused(run(SPEC.replace(word, other))[0], told)


def test_a_model_that_refuses_the_arguments_is_a_broken_spec(
    run: Callable[[str], tuple[Completed, Path]],
) -> None:
    result, _ = run(SPEC.replace("def __init__(self, channels)", "def __init__(self)"))
    assert result.returncode == 2, result
    assert "the model of IdentityConv refuses the constructor arguments" in result.stdout + result.stderr
