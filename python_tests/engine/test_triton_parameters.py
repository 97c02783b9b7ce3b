"""Which arguments of a function in Triton are parameters of the compiled kernel."""

from __future__ import annotations

from typing import Any

import pytest
from opgate.startup.triton_parameters import parameters_of


@pytest.mark.parametrize(
    ("signature", "names"),
    [
        ({"x": "*fp32", "out": "*fp32", "count": "i32"}, ["x", "out", "count"]),
        ({"x": "*fp32", "stride": "constexpr", "count": "i32", "BLOCK": "constexpr"}, ["x", "count"]),
        ({"x": "*fp32", "sizes": ("i32", "i32")}, []),
        ({"x": "tensordesc<fp32[16,16]>", "count": "i32"}, []),
        ({}, []),
    ],
)
def test_constants_are_none_and_what_becomes_several_is_not_named(
    signature: dict[str, Any], names: list[str]
) -> None:
    assert parameters_of(signature) == names
