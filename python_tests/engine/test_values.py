"""The generator of sample values, written again in numpy: what conformance/values/ documents, bit for bit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import opgate
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from opgate import _engine

SHAPES = [(7,), (4, 8), (2, 3, 257)]  # of opgate_ops::identity_conv, one tensor a sample
FOR_ANY_DTYPE = [
    "uniform",
    "uniform(0,1)",
    "uniform(-2.5,3.75)",
    "positive",
    "extremes",
    "subnormals",
    "signed_zeros",
    "infinities",
    "nans",
    "special",
    "literal(1.5,0,-3)",
]
COUNT = 129
ENOUGH = settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

OPAQUE = {  # bits without arithmetic, and the integers that they make
    "float4_e2m1fn_x2": "uint8",
    "bits1x8": "uint8",
    "bits2x4": "uint8",
    "bits4x2": "uint8",
    "bits8": "uint8",
    "bits16": "uint16",
}
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
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
    *PARTS,
    *FLOAT8,
    "float8_e8m0fnu",
    *OPAQUE,
]


def mix(z: np.ndarray) -> np.ndarray:
    """SplitMix64's output function; arrays of uint64 wrap around silently."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def key_of(name: str) -> np.uint64:
    """The stream's key: the mixed FNV-1a of its name."""
    fnv = 0xCBF29CE484222325
    for byte in name.encode():
        fnv = ((fnv ^ byte) * 0x100000001B3) % 2**64
    return mix(np.array([fnv], np.uint64))[0]


def bits_of_stream(key: np.uint64, count: int) -> np.ndarray:
    """The first `count` values of the stream: SplitMix64 seeded with the key."""
    counters = np.arange(1, count + 1, dtype=np.uint64)
    return mix(np.array([key]) + counters * np.uint64(0x9E3779B97F4A7C15))


def rounded_to_float8(values: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    """The codes of the nearest float8 numbers, ties to the even code, found by looking at all of them."""
    numbers = torch.arange(128, dtype=torch.uint8).view(dtype).float().numpy().astype(np.float64)
    magnitudes = np.minimum(np.abs(values.astype(np.float64)), 1e6)  # past all ends, where doubles still tell
    distance = np.abs(numbers - magnitudes[:, None])
    distance[:, ~np.isfinite(numbers)] = np.inf
    order = np.lexsort((np.broadcast_to(np.arange(128) % 2, distance.shape), distance))
    codes = order[:, 0].astype(np.uint8)
    if dtype == torch.float8_e5m2:
        codes[np.abs(values) >= 61440] = (
            0x7C  # half a unit past the largest number; the others have no infinity
        )
    has_negative_zero = "fnuz" not in str(dtype)
    negative = np.signbit(values) & (has_negative_zero | (codes != 0))
    codes |= negative.astype(np.uint8) << 7
    codes[np.isnan(values)] = SPECIAL[str(dtype).removeprefix("torch.")].nan
    return codes


def rounded_to_power(values: np.ndarray) -> np.ndarray:
    """The codes of the nearest float8_e8m0fnu numbers: 2^-127 to 2^127 without sign, ties to the larger."""
    powers = 2.0 ** np.arange(127, -128, -1)
    return (254 - np.abs(powers - np.abs(values)[:, None]).argmin(axis=1)).astype(np.uint8)


def codes_of_reals(values: np.ndarray, dtype: str) -> np.ndarray:
    """float64 values in the bits of `dtype`: rounded to float first, except for float64."""
    if dtype == "float64":
        return values.view(np.uint64)
    with np.errstate(over="ignore", under="ignore"):
        singles = values.astype(np.float32)
        if dtype == "float32":
            return singles.view(np.uint32)
        if dtype == "float16":
            return singles.astype(np.float16).view(np.uint16)
    if dtype == "bfloat16":
        raw = singles.view(np.uint32)
        nearest_even = np.uint32(0x7FFF) + ((raw >> np.uint32(16)) & np.uint32(1))
        return ((raw + nearest_even) >> np.uint32(16)).astype(np.uint16)
    if dtype == "float8_e8m0fnu":
        return rounded_to_power(singles.astype(np.float64))
    return rounded_to_float8(singles, getattr(torch, dtype))


def units(bits: np.ndarray) -> np.ndarray:
    """Doubles in [0, 1) from the top 53 bits."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uniform(key: np.uint64, count: int, dtype: str, interval: tuple[float, float] | None) -> np.ndarray:
    """`count` parts of `dtype`, none of them complex."""
    bits = bits_of_stream(key, count)
    if dtype in OPAQUE:
        size = getattr(torch, dtype).itemsize
        return (bits >> np.uint64(64 - 8 * size)).astype(OPAQUE[dtype])
    if dtype == "bool":
        return (bits >> np.uint64(63)).astype(np.uint8)
    if dtype in INTEGERS:
        first, last = interval or (-100 if dtype not in UNSIGNED else 0, 100)
        first, last = math.ceil(first), math.floor(last)
        first = max(first, 0) if dtype in UNSIGNED else first
        return (first + np.floor(units(bits) * (last - first + 1))).astype(dtype)
    low, high = interval or (-1.0, 1.0)
    return codes_of_reals(low + (high - low) * units(bits), dtype)


@dataclass(frozen=True)
class Codes:
    """The bits of a format's special numbers."""

    largest: int
    normal: int  # the smallest
    infinity: int | None
    nan: int
    sign: int
    has_negative_zero: bool = True

    def lists(self) -> dict[str, list[int]]:
        """In the order in which each family takes them."""
        subnormal = [1, self.normal - 1]
        return {
            "extremes": [self.largest, self.sign | self.largest, self.normal],
            "subnormals": [*subnormal, *(self.sign | code for code in subnormal)],
            "signed_zeros": [0, self.sign] if self.has_negative_zero else [0],
            "infinities": [] if self.infinity is None else [self.infinity, self.sign | self.infinity],
            "nans": [self.nan],
        }


SPECIAL = {
    "float16": Codes(0x7BFF, 0x0400, 0x7C00, 0x7E00, 1 << 15),
    "bfloat16": Codes(0x7F7F, 0x0080, 0x7F80, 0x7FC0, 1 << 15),
    "float32": Codes(0x7F7FFFFF, 0x00800000, 0x7F800000, 0x7FC00000, 1 << 31),
    "float64": Codes((0x7FF << 52) - 1, 1 << 52, 0x7FF << 52, 0xFFF << 51, 1 << 63),
    "float8_e5m2": Codes(0x7B, 0x04, 0x7C, 0x7F, 1 << 7),
    "float8_e4m3fn": Codes(0x7E, 0x08, None, 0x7F, 1 << 7),
    "float8_e5m2fnuz": Codes(0x7F, 0x04, None, 0x80, 1 << 7, has_negative_zero=False),
    "float8_e4m3fnuz": Codes(0x7F, 0x08, None, 0x80, 1 << 7, has_negative_zero=False),
}
MIXTURES = ["extremes", "subnormals", "signed_zeros", "infinities", "nans"]


def special_codes(family: str, dtype: str) -> list[int]:
    """The special numbers that a family mixes in, as bits or integers."""
    if family == "special":
        return [code for one in MIXTURES for code in special_codes(one, dtype)]
    if dtype in SPECIAL:
        return SPECIAL[dtype].lists()[family]
    if dtype == "float8_e8m0fnu":
        return {"extremes": [0xFE, 0x00, 0x00], "nans": [0xFF]}.get(family, [])
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return {"extremes": [limits.max, limits.min], "signed_zeros": [0]}.get(family, [])
    return [0] if dtype == "bool" and family == "signed_zeros" else []


def mixture(family: str, key: np.uint64, count: int, dtype: str) -> np.ndarray:
    """Ordinary parts; in the first block of four and in half of the others one is special."""
    parts = uniform(key, count, dtype, None).copy()
    others = special_codes(family, dtype)
    blocks = bits_of_stream(mix(np.array([key]))[0], (count + 3) // 4)
    for block, bits in enumerate(blocks.tolist()):
        at = 4 * block + bits % 4
        if others and at < count and (block == 0 or bits >> 63):
            parts[at] = others[(bits >> 2) % len(others)]
    return parts


def positive(key: np.uint64, count: int, dtype: str) -> np.ndarray:
    """1 - u, or the smallest normal number where that rounds to 0; integers from 1 to 100."""
    unit = units(bits_of_stream(key, count))
    if dtype == "bool":
        return np.ones(count, np.uint8)
    if dtype in OPAQUE:
        return uniform(key, count, dtype, None)
    if dtype in INTEGERS:
        return (1 + np.floor(unit * 100)).astype(dtype)
    codes = codes_of_reals(1 - unit, dtype).copy()
    if dtype in SPECIAL:
        codes[codes == 0] = SPECIAL[dtype].normal
    return codes


def integers(family: str, n: int, key: np.uint64, count: int) -> np.ndarray:
    """The families that are made of integers only."""
    bits = bits_of_stream(key, count)
    if family == "permutation":
        return np.argsort(bits, kind="stable")
    if family == "indices":
        return np.minimum(np.floor(units(bits) * n), n - 1)
    at_an_end = np.clip(2 * units(bits) - 0.5, 0, 1)
    if family == "sorted_indices":
        return np.minimum(np.floor((np.arange(count) + at_an_end) / count * n), n - 1)
    found = np.zeros(count)
    found[1:-1] = np.floor((np.arange(count - 2) + at_an_end[1:-1]) / max(count - 2, 1) * n)[
        : max(count - 2, 0)
    ]
    found[1:][-1:] = n
    return found


def literal(numbers: list[float], count: int, dtype: str) -> np.ndarray:
    """The numbers, repeated, each rounded to the nearest number of the dtype."""
    cycled = [numbers[i % len(numbers)] for i in range(count)]
    if dtype == "bool":
        return np.array([number != 0 for number in cycled], np.uint8)
    if dtype in INTEGERS or dtype in OPAQUE:
        limits = np.iinfo(OPAQUE.get(dtype, dtype))
        whole = [0 if math.isnan(x) else int(min(max(x, -1e30), 1e30)) for x in cycled]
        return np.array([min(max(x, limits.min), limits.max) for x in whole], limits.dtype)
    return codes_of_reals(np.array(cycled, np.float64), dtype)


def expected(stream: str, count: int, dtype: str, domain: str) -> bytes:
    """The bytes of `count` elements of `dtype` from a domain as it is written."""
    key = key_of(stream)
    family, _, rest = domain.rstrip(")").partition("(")
    numbers = [float(number) for number in rest.split(",")] if rest else []
    part, count = (PARTS[dtype], 2 * count) if dtype in PARTS else (dtype, count)
    if family == "uniform":
        return uniform(key, count, part, tuple(numbers) or None).tobytes()
    if family == "positive":
        return positive(key, count, part).tobytes()
    if family == "literal" and part != dtype:
        return literal([x for number in numbers for x in (number, 0.0)], count, part).tobytes()
    if family == "literal":
        return literal(numbers, count, part).tobytes()
    if family in {"indices", "sorted_indices", "offsets", "permutation"}:
        return integers(family, int(numbers[0]) if numbers else 0, key, count).astype(dtype).tobytes()
    return mixture(family, key, count, part).tobytes()


def bytes_of(tensor: torch.Tensor) -> bytes:
    """The elements' bytes in row-major order."""
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()


def load(build: Path, arguments: list[dict[str, Any]]) -> None:
    """identity_conv, and the model Domains whose only sample, `drawn`, has these arguments."""
    sample = {"name": "drawn", "arguments": arguments, "where": "here"}
    model = {
        "kind": "model",
        "name": "Domains",
        "where": "here",
        "dtypes": {"cpu": DTYPES},
        "samples": [sample],
        "accuracy": None,
        "scale": False,
    }
    _engine.load([str(build / "lib" / "libopgate_ops_specs.so")], json.dumps([model]))


@pytest.fixture(autouse=True)
def subjects(build: Path, identity_library: Path) -> None:
    """A model whose inputs have one domain each."""
    load(build, [{"shape": [COUNT], "values": domain} for domain in FOR_ANY_DTYPE])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_engine_generates_what_is_documented(shape: tuple[int, ...], dtype: str) -> None:
    sample = "x".join(map(str, shape))
    (x,) = _engine.arguments(f"identity_conv/{dtype}/{sample}/contiguous/cpu")
    assert (x.shape, str(x.dtype)) == (shape, f"torch.{dtype}")
    assert bytes_of(x) == expected(f"opgate_ops::identity_conv/{sample}/0", x.numel(), dtype, "uniform")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_domain_and_the_argument_place_make_the_stream(dtype: str) -> None:
    inputs = _engine.arguments(f"Domains/{dtype}/drawn/contiguous/cpu")
    for position, (tensor, domain) in enumerate(zip(inputs, FOR_ANY_DTYPE, strict=True)):
        assert bytes_of(tensor) == expected(f"Domains/drawn/{position}", COUNT, dtype, domain), domain


def made(build: Path, argument: opgate.TensorArgument, dtype: str) -> torch.Tensor:
    """The only input of a model that is called with `argument`."""
    load(build, [argument.as_json()])
    (tensor,) = _engine.arguments(f"Domains/{dtype}/drawn/contiguous/cpu")
    return tensor


SHORT = st.lists(st.integers(0, 12), max_size=3)
FACTORIES = [
    opgate.uniform,
    opgate.positive,
    opgate.extremes,
    opgate.subnormals,
    opgate.signed_zeros,
    opgate.infinities,
    opgate.nans,
    opgate.special,
]


@ENOUGH
@given(st.sampled_from(FACTORIES), SHORT, st.sampled_from(DTYPES))
def test_python_words_name_the_same_values(build: Path, factory: Any, shape: list[int], dtype: str) -> None:
    argument = factory(*shape)
    tensor = made(build, argument, dtype)
    assert tensor.shape == tuple(shape)
    assert bytes_of(tensor) == expected("Domains/drawn/0", math.prod(shape), dtype, argument.values)


@ENOUGH
@given(
    st.sampled_from(["indices", "sorted_indices", "offsets", "permutation"]),
    st.integers(0, 300),
    st.integers(1, 2**40),
    st.sampled_from(["int64", "int32", "uint64", "uint8"]),
)
def test_families_of_integers_are_what_is_documented(
    build: Path, family: str, count: int, n: int, dtype: str
) -> None:
    n = min(n, torch.iinfo(getattr(torch, dtype)).max)
    count = min(count, 256)
    factory = getattr(opgate, family)
    with_bound = {"permutation": lambda: factory(count), "offsets": lambda: factory(count, n)}
    argument = with_bound.get(family, lambda: factory(count, n=n))()
    assert argument.dtype == "int64"
    tensor = made(build, argument.of(getattr(torch, dtype)), "float32")
    assert str(tensor.dtype) == f"torch.{dtype}"
    assert bytes_of(tensor) == expected("Domains/drawn/0", count, dtype, argument.values)


@ENOUGH
@given(st.lists(st.floats(), min_size=1, max_size=9), st.sampled_from(DTYPES))
def test_written_numbers_come_as_they_are(build: Path, numbers: list[float], dtype: str) -> None:
    assume(dtype != "float8_e8m0fnu")  # torch rounds to it wrongly below 2^-126
    numbers = [math.nan if math.isnan(number) else number for number in numbers]  # no payload, no sign
    argument = opgate.values(numbers)
    assert argument.shape == (len(numbers),)
    tensor = made(build, argument, dtype)
    assert bytes_of(tensor) == expected("Domains/drawn/0", len(numbers), dtype, argument.values)
    if dtype == "float64":
        assert bytes_of(tensor) == np.array(numbers).tobytes()


def test_nested_numbers_say_their_shape() -> None:
    boxes = opgate.values([[0, 1, 1, 8, 8.5]])
    assert boxes == opgate.TensorArgument((1, 5), "literal(0.0,1.0,1.0,8.0,8.5)")
    assert opgate.values(3) == opgate.TensorArgument((), "literal(3.0)")
    assert opgate.values([], shape=(0, 5)) == opgate.TensorArgument((0, 5), "literal")
    with pytest.raises(ValueError, match="6 elements"):
        opgate.values([1, 2, 3], shape=(2, 3))
    with pytest.raises(ValueError, match="unlike shapes"):
        opgate.values([[1, 2], [3]])


def test_a_bound_that_leaves_no_index_is_refused() -> None:
    with pytest.raises(ValueError, match="indices: n is 0"):
        opgate.indices(3, n=0)
    with pytest.raises(ValueError, match="offsets: n is -1"):
        opgate.offsets(3, -1)
    assert opgate.indices(0, 3, n=0).values == "indices(0)"


@settings(deadline=None, max_examples=50)
@given(st.permutations(DTYPES[:6]))
def test_the_order_of_the_calls_changes_no_value(order: list[str]) -> None:
    for dtype in order:
        (x,) = _engine.arguments(f"identity_conv/{dtype}/4x8/contiguous/cpu")
        assert bytes_of(x) == expected("opgate_ops::identity_conv/4x8/0", 32, dtype, "uniform")


def test_writing_to_an_argument_does_not_reach_the_next_call() -> None:
    call = "identity_conv/float32/4x8/contiguous/cpu"
    _engine.arguments(call)[0].zero_()
    assert bytes_of(_engine.arguments(call)[0]) == expected(
        "opgate_ops::identity_conv/4x8/0", 32, "float32", "uniform"
    )


def test_another_name_is_another_stream() -> None:
    assert expected("a/0", 8, "float64", "uniform") != expected("a/1", 8, "float64", "uniform")
