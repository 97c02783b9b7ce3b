"""The schema of a function that no dispatcher knows: from its calls, and from its annotations."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from typing import Any, Optional

import pytest
import torch
from opgate import _engine
from opgate.functions.annotations import annotated_schema
from opgate.specs.names import name_of_function, subject_name


def seen(*calls: dict[str, str], returns: list[str] | None = None, **facts: dict[str, Any]) -> str:
    """A line of a recording's log: the types in each call, and facts about parameters."""
    names = list(dict.fromkeys(name for call in calls for name in call))
    plain = {"written": False, "tuple": False, "keyword": False}
    returned = ["Tensor"] if returns is None else returns
    return json.dumps(
        {
            "function": "m:f",
            "operators": {f"m_f_{number}": call for number, call in enumerate(calls)},
            "parameters": [{"name": name} | plain | facts.get(name, {}) for name in names],
            "returns": [{"type": each, "argument": None} for each in returned],
        }
    )


def schema(*calls: dict[str, str], returns: list[str] | None = None, **facts: dict[str, Any]) -> str:
    """The parameters and results that these calls show."""
    return _engine.function_schema(seen(*calls, returns=returns, **facts))[0].removeprefix("m:f")


@pytest.mark.parametrize(
    ("types", "widened"),
    [
        (["int", "float"], "float"),
        (["float[]", "int[]"], "float[]"),
        (["Tensor", "None"], "Tensor?"),
        (["None", "int", "float"], "float?"),
        (["[]", "Tensor[]"], "Tensor[]"),
        (["[]", "None"], "int[]?"),
        (["None"], "Tensor?"),
        (["[]"], "int[]"),
    ],
)
def test_the_type_is_that_of_all_calls(types: list[str], widened: str) -> None:
    """In whatever order the types are seen."""
    for order in (types, types[::-1]):
        calls = [{"x": "Tensor", "y": each} for each in order]
        assert schema(*calls) == f"(Tensor x, {widened} y) -> Tensor"


@pytest.mark.parametrize("types", [("Tensor", "float"), ("int", "bool"), ("int", "int[]"), ("str", "int")])
def test_types_that_have_nothing_in_common_are_refused(types: tuple[str, str]) -> None:
    """A schema has one type for each parameter."""
    with pytest.raises(RuntimeError, match=f"an? {re.escape(types[1])} as `y`, which is an? {types[0]}"):
        schema(*({"x": "Tensor", "y": each} for each in types))


def test_defaults_that_calls_leave_out() -> None:
    """A default of None makes the type optional, and one of another type widens it."""
    calls = ({"x": "Tensor", "y": "Tensor"}, {"x": "Tensor"})
    assert schema(*calls, y={"default": None}) == "(Tensor x, Tensor? y=None) -> Tensor"
    calls = ({"x": "Tensor", "y": "int"}, {"x": "Tensor"})
    assert schema(*calls, y={"default": 0.5}) == "(Tensor x, float y=0.5) -> Tensor"
    named = schema(*calls, y={"default": 3, "keyword": True})
    assert named == "(Tensor x, *, int y=3) -> Tensor"


def test_written_arguments_and_results() -> None:
    """A written argument is labelled; results may be several or none."""
    types = {"x": "Tensor", "out": "Tensor[]"}
    assert schema(types, returns=[], out={"written": True}) == "(Tensor x, Tensor(a!)[] out) -> ()"
    assert schema({"x": "Tensor"}, returns=["Tensor", "int"]) == "(Tensor x) -> (Tensor, int)"


def plain(x: torch.Tensor, y: torch.Tensor | None, dims: list[int], eps: float = 1e-6) -> torch.Tensor:
    """Annotated as most functions are."""
    raise NotImplementedError


def older(x: torch.Tensor, y: Optional[int] = None, *, exact: bool = False) -> tuple[torch.Tensor, int]:  # noqa: UP045
    """With the older form of a type that may be None."""
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (plain, "(Tensor x, Tensor? y, int[] dims, float eps=1e-06) -> Tensor"),
        (older, "(Tensor x, int? y=None, *, bool exact=False) -> (Tensor, int)"),
    ],
)
def test_annotations_give_a_schema(function: Callable[..., Any], expected: str) -> None:
    """Those of Python."""
    assert annotated_schema("m:f", function) == f"m:f{expected}"


def test_docstrings_of_pybind11_give_a_schema() -> None:
    """A function in C++ has no signature for Python."""

    def function(*arguments: Any) -> Any:
        raise NotImplementedError

    function.__doc__ = (
        "f(x: torch.Tensor, n: typing.SupportsInt, a: float = 1.0) -> list[torch.Tensor]\n\nText."
    )
    function.__signature__ = "not a signature"  # type: ignore[attr-defined]
    assert annotated_schema("m:f", function) == "m:f(Tensor x, int n, float a=1) -> Tensor[]"


def test_what_annotations_do_not_say() -> None:
    """The error names the parameter, and the word of the spec that gives the schema."""
    with pytest.raises(ValueError, match=r"no annotation gives the type of `x`; write spec.schema\("):
        annotated_schema("m:f", lambda x: x)

    def writes(x: torch.Tensor) -> None:
        x.zero_()

    with pytest.raises(ValueError, match="no annotation gives the type of what it returns"):
        annotated_schema("m:f", writes)


class Doubled(torch.autograd.Function):
    """Names are those of the class."""


class Norm(torch.nn.Module):
    """Called as an object."""


def test_names_of_functions() -> None:
    """By which another process finds them, or at least a reader."""
    module = __name__
    assert name_of_function(plain) == f"{module}:plain"
    assert name_of_function(Doubled.apply) == name_of_function(Doubled) == f"{module}:Doubled"
    assert name_of_function(functools.partial(plain, eps=1.0)) == f"{module}:plain"
    assert name_of_function(Norm()) == f"{module}:Norm"
    assert subject_name(torch.ops.aten.add.Tensor) == "aten::add.Tensor"
    with pytest.raises(TypeError, match="neither an operator nor a function"):
        subject_name(3)
