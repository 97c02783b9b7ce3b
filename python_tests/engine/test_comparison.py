"""difference() is None exactly where bits, shape and dtype are equal, and digest() agrees with it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from opgate import _engine

NAMES = [
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex32",
    "complex64",
    "complex128",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e5m2fnuz",
    "float8_e4m3fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn_x2",
    "bits8",
    "bits16",
]
DTYPES = [getattr(torch, name) for name in NAMES]


def raw(x: torch.Tensor) -> bytes:
    """The bytes of the elements in row-major order, gathered one by one from the storage."""
    storage = torch.empty(0, dtype=torch.uint8).set_(x.untyped_storage()).view(-1, x.element_size())
    elements = torch.arange(len(storage)).as_strided(x.shape, x.stride(), x.storage_offset())
    return storage[elements.flatten()].numpy().tobytes()


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    """The text that the engine should give."""
    return (a.dtype, a.shape, raw(a)) == (b.dtype, b.shape, raw(b))


def parts(x: torch.Tensor) -> torch.Tensor:
    """The real numbers of the elements in row-major order: a row of bytes each, and whether it is NaN."""
    dense = torch.frombuffer(bytearray(raw(x)), dtype=torch.uint8).view(x.dtype)
    real = torch.view_as_real(dense).flatten() if x.is_complex() else dense
    has_nan = real.is_floating_point() and x.dtype != torch.float4_e2m1fn_x2
    nan = real.to(torch.float64).isnan() if has_nan else torch.zeros(len(real), dtype=torch.bool)
    rows = real.view(torch.uint8).view(len(real), -1)
    return torch.cat([torch.where(nan[:, None], 0, rows), nan[:, None]], 1)


def equal_numbers(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether the bits are the same, or both are NaN, in each number."""
    if equal(a, b):
        return True
    return (a.dtype, a.shape) == (b.dtype, b.shape) and torch.equal(parts(a), parts(b))


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Any bytes in any dtype with any strides: NaN of any payload, gaps, overlaps, no elements."""
    dtype = draw(st.sampled_from(DTYPES))
    sizes = draw(st.lists(st.integers(0, 4), max_size=4))
    strides = [draw(st.integers(0, 5)) for _ in sizes]
    offset = draw(st.integers(0, 2))
    count = offset + 1 + sum(step * max(size - 1, 0) for size, step in zip(sizes, strides, strict=True))
    byte = st.integers(0, 1 if dtype == torch.bool else 255)
    size = count * dtype.itemsize
    data = torch.tensor(draw(st.lists(byte, min_size=size, max_size=size)), dtype=torch.uint8)
    return data.view(dtype).as_strided(sizes, strides, offset)


def zeros(count: int, dtype: torch.dtype) -> torch.Tensor:
    """Bytes of 0: torch.zeros cannot fill the dtypes that have no arithmetic."""
    return torch.zeros(count * dtype.itemsize, dtype=torch.uint8).view(dtype)


def laid_out_otherwise(x: torch.Tensor, step: int) -> torch.Tensor:
    """The same bits, one element into a storage where every dense stride is `step` times as long."""
    base = zeros(1 + step * max(x.numel(), 1), x.dtype)
    dense = torch.tensor(list(raw(x)), dtype=torch.uint8).view(x.dtype)
    base[1::step][: x.numel()].copy_(dense)
    strides = [step * stride for stride in torch.empty(x.shape, device="meta").stride()]
    return base.as_strided(x.shape, strides, 1)


@settings(deadline=None, max_examples=300)
@given(tensors(), st.integers(1, 3))
def test_equal_bits_in_another_layout_are_equal(x: torch.Tensor, step: int) -> None:
    y = laid_out_otherwise(x, step)
    assert equal(x, y)
    assert _engine.difference(x, y) is None
    assert _engine.digest([x]) == _engine.digest([y])


@settings(deadline=None, max_examples=300)
@given(tensors(), st.data())
def test_one_flipped_bit_is_found(x: torch.Tensor, data: st.DataObject) -> None:
    flipped = bytearray(raw(x))
    assume(flipped)
    byte = data.draw(st.integers(0, len(flipped) - 1))
    flipped[byte] ^= 1 if x.dtype == torch.bool else 1 << data.draw(st.integers(0, 7))
    y = torch.frombuffer(flipped, dtype=torch.uint8).view(x.dtype).view(x.shape)
    assert not equal(x, y)
    assume(not equal_numbers(x, y))  # a NaN may become another NaN
    found = _engine.difference(y, x)
    assert found is not None
    index = torch.unravel_index(torch.tensor(byte // x.element_size()), x.shape)
    assert found.startswith(f"1 of {x.numel()} elements differ, the first at {[int(i) for i in index]}: got ")
    assert _engine.digest([x]) != _engine.digest([y])


@settings(deadline=None, max_examples=300)
@given(tensors(), tensors())
def test_any_two_tensors_are_equal_exactly_where_their_numbers_are(a: torch.Tensor, b: torch.Tensor) -> None:
    assert (_engine.difference(a, b) is None) == equal_numbers(a, b)
    assert (_engine.digest([a]) == _engine.digest([b])) == equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_another_dtype_of_the_same_bytes_is_named(dtype: torch.dtype) -> None:
    other = torch.int8 if dtype == torch.uint8 else torch.uint8
    a, b = zeros(3, dtype), zeros(3, other)
    assert _engine.difference(a, b) == f"dtype {dtype}, not {other}".replace("torch.", "")


def test_shapes_are_not_broadcast() -> None:
    assert _engine.difference(torch.zeros(3, 1), torch.zeros(3)) == "shape [3, 1], not [3]"
    assert _engine.difference(torch.zeros(1), torch.zeros(())) == "shape [1], not []"


def test_minus_zero_is_not_zero_and_each_nan_is_each_other() -> None:
    zero, minus_zero = torch.tensor([0.0]), torch.tensor([-0.0])
    assert "got -0, want 0" in _engine.difference(minus_zero, zero)
    quiet, other = (
        torch.tensor([bits], dtype=torch.int32).view(torch.float) for bits in (0x7FC00000, 0x7FC00001)
    )
    assert _engine.difference(other, quiet) is None
    assert "got nan (0x7fc00001), want 0" in _engine.difference(other, zero)


def test_a_lazy_conjugate_or_negative_is_compared_by_value() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert _engine.difference(x.conj(), x.conj().resolve_conj()) is None
    assert _engine.difference(x.conj(), x) is not None
    negated = torch._neg_view(torch.tensor([1.0, -2.0]))
    assert _engine.difference(negated, torch.tensor([-1.0, 2.0])) is None
    assert _engine.digest([negated]) == _engine.digest([torch.tensor([-1.0, 2.0])])


def test_a_digest_tells_one_tensor_from_two() -> None:
    whole = torch.arange(4.0)
    digests = {
        _engine.digest(list(parts))
        for parts in [(whole,), (whole[:2], whole[2:]), (whole[:1], whole[1:]), ()]
    }
    assert len(digests) == 4
