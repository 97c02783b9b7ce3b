"""The generator of sample values, written again in numpy: what conformance/values/ documents, bit for bit."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from opgate import _engine

SHAPES = [(7,), (4, 8), (2, 3, 257)]  # of opgate_ops::identity_conv, one tensor a sample
RANGES = {"uniform": None, "uniform(0,1)": (0.0, 1.0), "uniform(-2.5,3.75)": (-2.5, 3.75)}
COUNT = 129

UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = ["int8", "int16", "int32", "int64", *UNSIGNED]
FLOAT8 = ["float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz"]
DTYPES = [
    *INTEGERS,
    "bool",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    *FLOAT8,
]


def mix(z: np.ndarray) -> np.ndarray:
    """SplitMix64's output function; arrays of uint64 wrap around silently."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream_bits(name: str, count: int) -> np.ndarray:
    """The first `count` values of the stream: SplitMix64 seeded with the mixed FNV-1a of its name."""
    fnv = 0xCBF29CE484222325
    for byte in name.encode():
        fnv = ((fnv ^ byte) * 0x100000001B3) % 2**64
    key = mix(np.array([fnv], np.uint64))
    counters = np.arange(1, count + 1, dtype=np.uint64)
    return mix(key + counters * np.uint64(0x9E3779B97F4A7C15))


def rounded_to_float8(values: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    """The codes of the nearest float8 numbers, ties to the even code, found by looking at all of them."""
    numbers = torch.arange(128, dtype=torch.uint8).view(dtype).float().numpy()
    distance = np.abs(numbers - np.abs(values)[:, None])
    distance[:, ~np.isfinite(numbers)] = np.inf
    order = np.lexsort((np.broadcast_to(np.arange(128) % 2, distance.shape), distance))
    codes = order[:, 0].astype(np.uint8)
    has_negative_zero = "fnuz" not in str(dtype)
    negative = np.signbit(values) & (has_negative_zero | (codes != 0))
    return codes | (negative.astype(np.uint8) << 7)


def bits_of_reals(values: np.ndarray, dtype: str) -> bytes:
    """float64 values as bytes of `dtype`: rounded to float first, except for float64."""
    if dtype == "float64":
        return values.tobytes()
    singles = values.astype(np.float32)
    if dtype == "float32":
        return singles.tobytes()
    if dtype == "float16":
        return singles.astype(np.float16).tobytes()
    if dtype == "bfloat16":
        raw = singles.view(np.uint32)
        nearest_even = np.uint32(0x7FFF) + ((raw >> np.uint32(16)) & np.uint32(1))
        return ((raw + nearest_even) >> np.uint32(16)).astype(np.uint16).tobytes()
    return rounded_to_float8(singles, getattr(torch, dtype)).tobytes()


def expected(stream: str, count: int, dtype: str, interval: tuple[float, float] | None) -> bytes:
    """The bytes of `count` values of `dtype` from uniform over `interval`."""
    parts = 2 if dtype.startswith("complex") else 1
    bits = stream_bits(stream, count * parts)
    unit = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    if dtype == "bool":
        return (bits >> np.uint64(63)).astype(np.uint8).tobytes()
    if dtype in INTEGERS:
        first, last = interval or (-100 if dtype not in UNSIGNED else 0, 100)
        first, last = math.ceil(first), math.floor(last)
        first = max(first, 0) if dtype in UNSIGNED else first
        return (first + np.floor(unit * (last - first + 1))).astype(dtype).tobytes()
    low, high = interval or (-1.0, 1.0)
    real = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    return bits_of_reals(low + (high - low) * unit, real)


def bytes_of(tensor: torch.Tensor) -> bytes:
    """The elements' bytes in row-major order."""
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()


@pytest.fixture(scope="module", autouse=True)
def subjects(build: Path, identity_library: Path) -> None:
    """identity_conv, and a model whose three inputs have the three domains."""
    arguments = [{"shape": [COUNT], "values": values} for values in RANGES]
    sample = {"name": "ranges", "arguments": arguments, "where": "here"}
    model = {"name": "Ranges", "where": "here", "dtypes": {"cpu": DTYPES}, "samples": [sample]}
    _engine.load([str(build / "lib" / "libopgate_ops_specs.so")], json.dumps([model]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_engine_generates_what_is_documented(shape: tuple[int, ...], dtype: str) -> None:
    sample = "x".join(map(str, shape))
    (x,) = _engine.arguments(f"identity_conv/{dtype}/{sample}/contiguous/cpu")
    assert (x.shape, str(x.dtype)) == (shape, f"torch.{dtype}")
    assert bytes_of(x) == expected(f"opgate_ops::identity_conv/{sample}/0", x.numel(), dtype, None)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_range_and_the_argument_place_make_the_stream(dtype: str) -> None:
    inputs = _engine.arguments(f"Ranges/{dtype}/ranges/contiguous/cpu")
    for position, (tensor, interval) in enumerate(zip(inputs, RANGES.values(), strict=True)):
        assert bytes_of(tensor) == expected(f"Ranges/ranges/{position}", COUNT, dtype, interval)


@settings(deadline=None, max_examples=50)
@given(st.permutations(DTYPES[:6]))
def test_the_order_of_the_calls_changes_no_value(order: list[str]) -> None:
    for dtype in order:
        (x,) = _engine.arguments(f"identity_conv/{dtype}/4x8/contiguous/cpu")
        assert bytes_of(x) == expected("opgate_ops::identity_conv/4x8/0", 32, dtype, None)


def test_writing_to_an_argument_does_not_reach_the_next_call() -> None:
    call = "identity_conv/float32/4x8/contiguous/cpu"
    _engine.arguments(call)[0].zero_()
    assert bytes_of(_engine.arguments(call)[0]) == expected(
        "opgate_ops::identity_conv/4x8/0", 32, "float32", None
    )


def test_another_name_is_another_stream() -> None:
    assert expected("a/0", 8, "float64", None) != expected("a/1", 8, "float64", None)
