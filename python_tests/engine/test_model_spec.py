"""Descriptions of models: the message names what is missing and where to add it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import opgate
import pytest
import torch

WORDS: dict[str, Callable[[opgate.ModelSpec], None]] = {
    "module": lambda spec: spec.module(torch.nn.Identity),
    "dtypes": lambda spec: spec.dtypes(torch.float32, torch.float16),
    "sample": lambda spec: spec.sample(opgate.uniform(2, 3)),
    "graph": lambda spec: spec.graph("aten.add.Tensor"),
    "reference": lambda spec: spec.reference(lambda x: x),
}


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, opgate.ModelSpec]:
    """The registered models: none at first."""
    registered: dict[str, opgate.ModelSpec] = {}
    monkeypatch.setattr(sys.modules["opgate.specs.model"], "MODELS", registered)  # opgate.model is a function
    return registered


def describe_all_but(left_out: str = "") -> Callable[[opgate.ModelSpec], None]:
    """A description in which only one word is missing."""

    def describe(spec: opgate.ModelSpec) -> None:
        for word, say in WORDS.items():
            if word != left_out:
                say(spec)

    return describe


def test_a_whole_description_is_registered(models: dict[str, opgate.ModelSpec]) -> None:
    describe = describe_all_but()
    assert opgate.model("Whole")(describe) is describe
    assert list(models) == ["Whole"]
    assert models["Whole"].as_json() == {
        "kind": "model",
        "name": "Whole",
        "where": models["Whole"].where,
        "dtypes": {"cpu": ["float32", "float16"], "cuda": ["float32", "float16"]},
        "accuracy": None,
        "scale": False,
        "samples": [{"arguments": [{"shape": [2, 3], "values": "uniform"}], "where": models["Whole"].where}],
    }


@pytest.mark.parametrize("word", WORDS)
def test_a_missing_word_is_named_with_its_place(word: str, models: dict[str, opgate.ModelSpec]) -> None:
    describe = describe_all_but(word)
    line = describe.__code__.co_firstlineno
    with pytest.raises(ValueError) as raised:
        opgate.model("Partial")(describe)
    assert str(raised.value) == (
        f"{Path(__file__)}:{line}: the spec of model Partial names no {word}: add spec.{word}(...)"
    )
    assert models == {}


@pytest.mark.parametrize(
    ("word", "say_nothing"), [("dtypes", lambda s: s.dtypes()), ("graph", lambda s: s.graph())]
)
def test_a_word_without_a_value_is_as_good_as_missing(
    word: str, say_nothing: Callable[[opgate.ModelSpec], None]
) -> None:
    def describe(spec: opgate.ModelSpec) -> None:
        describe_all_but(word)(spec)
        say_nothing(spec)

    with pytest.raises(ValueError, match=f"names no {word}: add"):
        opgate.model("Partial")(describe)


def test_a_second_model_of_that_name_is_refused_with_the_first_place(
    models: dict[str, opgate.ModelSpec],
) -> None:
    opgate.model("Twin")(describe_all_but())
    first = models["Twin"]
    with pytest.raises(ValueError, match="Twin has a spec already, at ") as raised:
        opgate.model("Twin")(describe_all_but())
    assert str(raised.value).endswith(first.where)
    assert models["Twin"] is first


def test_an_accuracy_is_that_of_operators_and_a_scale_is_its_own(
    models: dict[str, opgate.ModelSpec],
) -> None:
    @opgate.model("Near")
    def describe(spec: opgate.ModelSpec) -> None:
        describe_all_but()(spec)
        spec.accuracy(opgate.ulps(4), scale=torch.abs)

    near = {"ulps": 4, "by_inputs": True, "dtype": None, "input_dtype": False}
    assert (models["Near"].as_json()["accuracy"], models["Near"].as_json()["scale"]) == (near, True)


@pytest.mark.parametrize(
    ("promised", "scale", "message"),
    [
        (opgate.ulps(4).scaled_by_inputs(), None, "cannot be scaled_by_inputs"),
        (opgate.exact(), torch.abs, "no ulps that a scale could measure"),
    ],
    ids=["scaled by inputs", "an exact one with a scale"],
)
def test_an_accuracy_that_no_model_can_have_is_refused(
    promised: opgate.Accuracy, scale: Callable[[torch.Tensor], torch.Tensor] | None, message: str
) -> None:
    spec = opgate.ModelSpec("Near", "models.py:3")
    with pytest.raises(ValueError, match=f"models.py:3: .*{message}"):
        spec.accuracy(promised, scale=scale)


def test_every_sample_is_kept_in_order(models: dict[str, opgate.ModelSpec]) -> None:
    @opgate.model("Many")
    def describe(spec: opgate.ModelSpec) -> None:
        describe_all_but("sample")(spec)
        spec.sample(opgate.uniform(1))
        spec.sample(opgate.uniform(2), opgate.uniform(low=0, high=1))

    shapes = [[a["shape"] for a in sample["arguments"]] for sample in models["Many"].as_json()["samples"]]
    assert shapes == [[[1]], [[2], []]]


def test_uniform_is_written_as_the_engine_reads_it() -> None:
    assert opgate.uniform(2, 3) == opgate.TensorArgument((2, 3), "uniform")
    assert opgate.uniform(4, low=0, high=1).values == "uniform(0,1)"
    assert opgate.uniform(4, low=-2.5, high=1e-3).values == "uniform(-2.5,0.001)"


@pytest.mark.parametrize("bounds", [{"low": 0.0}, {"high": 1.0}])
def test_uniform_wants_both_bounds_or_none(bounds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give both low and high, or neither"):
        opgate.uniform(3, **bounds)


@pytest.mark.parametrize("bound", [0.1234567890123, 16777217.0, 1 / 3], ids=str)
def test_uniform_keeps_every_digit_of_its_bounds(bound: float) -> None:
    low, high = (
        opgate.uniform(3, low=-bound, high=bound).values.removeprefix("uniform(").rstrip(")").split(",")
    )
    assert (float(low), float(high)) == (-bound, bound)
