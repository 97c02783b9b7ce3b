"""Arguments lie in memory as the name of their layout says, hold the same values, and gaps hold 0xA5."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from harness import OpGate
from hypothesis import given, settings
from hypothesis import strategies as st
from opgate import _engine

GAP = 0xA5


def expanded(shape: torch.Size) -> torch.Tensor:
    """A tensor of this shape, expanded from size 1 along its first dim of more than one element."""
    dim = next(i for i, size in enumerate(shape) if size > 1)
    return torch.empty([1 if i == dim else size for i, size in enumerate(shape)]).expand(shape)


def expanded_last(shape: torch.Size) -> torch.Tensor:
    """Stride 0 along the last dim of more than one element."""
    dim = max(i for i, size in enumerate(shape) if size > 1)
    return torch.empty([1 if i == dim else size for i, size in enumerate(shape)]).expand(shape)


def windows(shape: torch.Size) -> torch.Tensor:
    """Rows along the last long dim that overlap by half, stepping along the long dim before it."""
    outer, inner = [i for i, size in enumerate(shape) if size > 1][-2:]
    step = (shape[inner] + 1) // 2
    covered = [1 if i == outer else size for i, size in enumerate(shape)]
    covered[inner] = (shape[outer] - 1) * step + shape[inner]
    rows = torch.empty(covered).unfold(inner, shape[inner], step).select(outer, 0)
    return rows.movedim(inner - 1, outer).movedim(-1, inner)


def channels_last(shape: torch.Size) -> torch.Tensor:
    """A tensor of this shape in the channels-last format for its number of dims."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return torch.empty(shape, memory_format=formats[len(shape)])


def odd_strides(shape: torch.Size) -> torch.Tensor:
    """A stride that means nothing along each dim of size 1."""
    dense = torch.empty(shape).stride()
    steps = [13 if size == 1 else step for size, step in zip(shape, dense, strict=True)]
    return torch.empty(shape.numel()).as_strided(shape, steps)


def emptied(dim: int) -> Callable[[torch.Size], torch.Tensor]:
    """Makes tensors of size 0 along `dim`."""
    return lambda shape: torch.empty([0 if i == dim else size for i, size in enumerate(shape)])


# Each layout's name in plain PyTorch, over a storage that holds nothing besides it.
IN_PYTORCH: dict[str, Callable[[torch.Size], torch.Tensor]] = {
    "contiguous": torch.empty,
    "transposed": lambda shape: torch.empty([*shape[:-2], shape[-1], shape[-2]]).mT,
    "stepped": lambda shape: torch.empty([*shape[:-1], 2 * shape[-1]])[..., ::2],
    "row-sliced": lambda shape: torch.empty([*shape[:-1], shape[-1] + 3])[..., 1:-2],
    "offset": lambda shape: torch.empty(shape.numel() + 1)[1:].view(shape),
    "expanded": expanded,
    "expanded-last": expanded_last,
    "expanded-all": lambda shape: torch.empty([1] * len(shape)).expand(shape),
    "windows": windows,
    "channels-last": channels_last,
    "negated": torch.empty,
    "odd-strides": odd_strides,
    "0-dim": lambda shape: torch.empty([]),
    **{f"empty-dim{dim}": emptied(dim) for dim in range(5)},
}


@pytest.fixture(scope="module")
def call_ids(
    build: Path, opgate: OpGate, identity_project: Callable[[], Path], identity_library: Path
) -> list[str]:
    """Every planned call of identity_conv on the CPU."""
    listed = opgate("list", "cases", "--op", "identity_conv", "--device", "cpu", folder=identity_project())
    assert listed.returncode == 0, listed.stderr
    _engine.load([str(build / "lib" / "libopgate_ops_specs.so")], "[]")
    calls = {case.rpartition("/")[0] for case in listed.stdout.splitlines()}
    return sorted(call for call in calls if "/bad:" not in call)


def test_every_layout_that_is_known_here_is_planned(call_ids: list[str]) -> None:
    names = {call.split("/")[3].removeprefix("x=") for call in call_ids}
    assert names == set(IN_PYTORCH)


def meaningful_strides(x: torch.Tensor) -> list[int]:
    """The strides along the dims of more than one element; the others mean nothing."""
    return [step for size, step in zip(x.shape, x.stride(), strict=True) if size > 1]


def storage_bytes(x: torch.Tensor) -> torch.Tensor:
    """All bytes of the storage, one row for each element."""
    raw = torch.empty(0, dtype=torch.uint8).set_(x.untyped_storage())
    return raw.view(-1, x.element_size())


@settings(deadline=None, max_examples=400)
@given(data=st.data())
def test_a_planned_call_gets_what_its_layout_says(call_ids: list[str], data: st.DataObject) -> None:
    call = data.draw(st.sampled_from(call_ids))
    op, dtype, sample, layout, device = call.split("/")
    (plain,) = _engine.arguments(f"{op}/{dtype}/{sample}/contiguous/{device}")
    (x,) = _engine.arguments(call)
    name = layout.removeprefix("x=")
    like = IN_PYTORCH[name](plain.shape)

    assert x.dtype == plain.dtype
    assert (x.shape, x.storage_offset()) == (like.shape, like.storage_offset())
    assert meaningful_strides(x) == meaningful_strides(like) or x.numel() == 0
    storage = storage_bytes(x)
    assert len(storage) == like.untyped_storage().nbytes() // like.element_size()

    # Row i of `elements` is the storage element behind the i-th value, in row-major order.
    elements = torch.arange(len(storage)).as_strided(x.shape, x.stride(), x.storage_offset()).flatten()
    assert x.is_neg() == (name == "negated")
    values = storage_bytes(-plain if name == "negated" else plain)
    if name.startswith("expanded"):
        repeated = values.view(*plain.shape, -1)
        for dim, step in enumerate(x.stride()):
            if step == 0 and plain.shape[dim] > 1:
                repeated = repeated.narrow(dim, 0, 1)
        values = repeated.expand(*plain.shape, -1).flatten(0, -2)
    if name == "windows":  # of values that share an element, the last one stays
        last = {element: row for row, element in enumerate(elements.tolist())}
        values = values[[last[element] for element in elements.tolist()]]
    assert torch.equal(storage[elements], values[: x.numel()])
    gaps = torch.ones(len(storage), dtype=torch.bool)
    gaps[elements] = False
    assert (storage[gaps] == GAP).all()


def test_layouts_with_gaps_have_some(call_ids: list[str]) -> None:
    for layout, gaps in [("stepped", 32), ("row-sliced", 12), ("offset", 1), ("transposed", 0)]:
        (x,) = _engine.arguments(f"identity_conv/float32/4x8/x={layout}/cpu")
        assert (storage_bytes(x) == GAP).all(1).sum() == gaps


@pytest.mark.parametrize(
    ("call", "fragments"),
    [
        ("identity_conv/float32/7/x=transposed/cpu", ["sample 7", "x=transposed", "x=stepped", "x=offset"]),
        ("identity_conv/float32/7/y=stepped/cpu", ["y=stepped", "there are: contiguous", "x=stepped"]),
        ("identity_conv/float32/8/contiguous/cpu", ["no sample '8'", "2x3x257"]),
        ("identity_conv/float99/7/contiguous/cpu", ["float99", "no dtype"]),
        ("identity_conv/float32/7/contiguous/tpu", ["tpu", "cpu", "cuda"]),
        ("identity/float32/7/contiguous/cpu", ["no spec for 'identity'", "identity_conv"]),
        ("identity_conv/float32/7/contiguous", ["no call id", "OP/DTYPE/SAMPLE/VARIANT/DEVICE"]),
    ],
)
def test_a_call_that_cannot_be_is_refused_by_name(
    call: str, fragments: list[str], call_ids: list[str]
) -> None:
    with pytest.raises(RuntimeError) as raised:
        _engine.arguments(call)
    for fragment in fragments:
        assert fragment in str(raised.value)
