"""identity_conv and IdentityConv from Python: values, errors, state, export, loading."""

import copy
import io
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import opgate_ops
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from opgate_ops.identity_conv import FakeIdentityConv

# Each supported dtype with the integer of its size. Bits are compared, for NaN equals nothing and
# -0 equals 0.
BITS = {
    torch.half: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float: torch.int32,
    torch.double: torch.int64,
}
DTYPES = sorted(BITS, key=str)

# What to do to a contiguous [8, 6, 10] tensor.
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2),
    "permuted": lambda x: x.permute(1, 2, 0),
    "stepped": lambda x: x[::2, :, ::3],
    "row_sliced": lambda x: x[:, 1:4],
    "offset_by_one": lambda x: x.flatten()[1:],
    "expanded_inside": lambda x: x[:, :, :1].expand(8, 6, 10),
    "expanded_outside": lambda x: x[:1].expand(5, 8, 6, 10)[1:, ::2],
    "overlapping": lambda x: x.as_strided((5, 7), (1, 1), 3),
    "negated": torch._neg_view,
    "no_dimensions": lambda x: x[0, 0, 0],
    "no_elements": lambda x: x[:, 3:3],
}


def bits(x: torch.Tensor) -> torch.Tensor:
    """The bits of `x` as integers, in a fresh contiguous tensor."""
    return x.clone(memory_format=torch.contiguous_format).view(BITS[x.dtype])


def random_bits(count: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """`count` values of `dtype` with random bits: NaN of any payload, denormals, infinities."""
    generator = torch.Generator().manual_seed(seed)
    raw = torch.randint(0, 256, (count * dtype.itemsize,), dtype=torch.uint8, generator=generator)
    return raw.view(dtype)


def assert_identity(x: torch.Tensor) -> None:
    """identity_conv(x) has the bits of `x`, the metadata of empty_like(x), and its own storage."""
    before = bits(x)
    out = opgate_ops.identity_conv(x)
    like = torch.empty_like(x)
    assert (out.shape, out.stride(), out.storage_offset()) == (like.shape, like.stride(), 0)
    assert (out.dtype, out.device) == (x.dtype, x.device)
    assert torch.equal(bits(out), before)
    assert torch.equal(bits(x), before), "the input was changed"
    if x.numel():
        assert out.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_bits_survive_every_layout(layout: str, dtype: torch.dtype) -> None:
    assert_identity(LAYOUTS[layout](random_bits(8 * 6 * 10, dtype).view(8, 6, 10)))


@st.composite
def strided_tensors(draw: st.DrawFn) -> torch.Tensor:
    """Any sizes from 0 to 6 with any strides from 0 to 8: gaps, overlaps, expanded dimensions."""
    sizes = draw(st.lists(st.integers(0, 6), max_size=5))
    strides = [draw(st.integers(0, 8)) for _ in sizes]
    offset = draw(st.integers(0, 3))
    needed = offset + 1 + sum(step * max(size - 1, 0) for size, step in zip(sizes, strides, strict=True))
    base = random_bits(needed, draw(st.sampled_from(DTYPES)), seed=draw(st.integers(0, 9)))
    return base.as_strided(sizes, strides, offset)


@settings(deadline=None, max_examples=300)
@given(strided_tensors())
def test_the_bits_survive_any_sizes_and_strides(x: torch.Tensor) -> None:
    assert_identity(x)


def test_a_copy_that_threads_share_is_whole() -> None:
    x = random_bits(7 * 300 * 411, torch.float).view(7, 300, 411)
    assert_identity(x)
    assert_identity(x.permute(1, 2, 0)[:, ::2])
    assert_identity(x[:, :, 1::3])


def test_more_dimensions_than_torch_iterates_over() -> None:
    assert_identity(torch.randn(2, 3).reshape((1,) * 70 + (2, 3)).transpose(70, 71))
    none_merges = torch.randn((4,) * 9)[(slice(None, None, 2),) * 9]
    assert_identity(none_merges)
    assert_identity(none_merges.permute(8, 0, 7, 1, 6, 2, 5, 3, 4))


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (torch.bool, "Bool"),
        (torch.uint8, "Byte"),
        (torch.int32, "Int"),
        (torch.int64, "Long"),
        (torch.complex64, "ComplexFloat"),
        (torch.float8_e4m3fn, "Float8_e4m3fn"),
    ],
    ids=str,
)
def test_other_dtypes_are_refused_by_name(dtype: torch.dtype, name: str, device: str) -> None:
    message = f"identity_conv: x must be Half, BFloat16, Float or Double, got {name}$"
    with pytest.raises(RuntimeError, match=message):
        opgate_ops.identity_conv(torch.empty(3, dtype=dtype, device=device))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_opcheck_passes(layout: str) -> None:
    x = LAYOUTS[layout](torch.randn(8, 6, 10))
    results = torch.library.opcheck(torch.ops.opgate_ops.identity_conv.default, (x,))
    assert set(results.values()) == {"SUCCESS"}


def test_forward_of_the_class_gives_the_bits_back() -> None:
    layer = opgate_ops.IdentityConv(3)
    assert layer.get_channels() == 3
    for shape in [(3, 5, 7), (2, 3, 5, 7), (0, 3, 5, 7)]:
        x = random_bits(torch.Size(shape).numel(), torch.float).view(shape)
        assert torch.equal(bits(layer.forward(x)), bits(x))


@pytest.mark.parametrize("channels", [0, -1])
def test_a_class_without_channels_is_refused(channels: int) -> None:
    with pytest.raises(RuntimeError, match=f"channels must be at least 1, got {channels}"):
        opgate_ops.IdentityConv(channels)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 5), "IdentityConv.forward: x must be [C, H, W] or [N, C, H, W], got 2 dimensions"),
        ((4, 5, 6), "IdentityConv.forward: x must have 3 channels in dimension 0, got 4"),
        ((3, 4, 5, 6), "IdentityConv.forward: x must have 3 channels in dimension 1, got 4"),
    ],
    ids=str,
)
def test_real_and_fake_class_refuse_a_shape_alike(shape: tuple[int, ...], message: str) -> None:
    for layer in (opgate_ops.IdentityConv(3), FakeIdentityConv(3)):
        with pytest.raises(RuntimeError) as raised:
            layer.forward(torch.randn(shape))
        assert str(raised.value).startswith(message)


def through_torch_save(layer: torch.ScriptObject) -> torch.ScriptObject:
    """`layer` after torch.save and torch.load."""
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, through_torch_save, lambda layer: pickle.loads(pickle.dumps(layer))],
    ids=["deepcopy", "torch.save", "pickle"],
)
def test_a_copied_object_keeps_its_channels(copied: Callable) -> None:
    layer = copied(opgate_ops.IdentityConv(5))
    assert layer.get_channels() == 5
    assert layer.forward(torch.ones(5, 2, 2)).sum() == 20


def test_the_fake_class_is_made_from_the_flattened_real_one() -> None:
    flattened = opgate_ops.IdentityConv(5).__obj_flatten__()
    assert flattened == (("channels", 5),)
    assert FakeIdentityConv.__obj_unflatten__(flattened).get_channels() == 5


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_model_changes_no_bit(dtype: torch.dtype) -> None:
    x = torch.randn(1, 3, 224, 224).to(dtype)
    x[0, 0, 0, :2] = torch.tensor([torch.finfo(dtype).max, torch.finfo(dtype).min])
    out = opgate_ops.IdentityModel().to(dtype)(x)
    assert out.stride() == x.stride()
    assert torch.equal(bits(out), bits(x))


def test_the_model_is_frozen() -> None:
    weights = dict(opgate_ops.IdentityModel(5).named_parameters())
    assert {name: tuple(w.shape) for name, w in weights.items()} == {
        "before.weight": (5, 1, 1, 1),
        "after.weight": (5, 1, 1, 1),
    }
    assert not any(w.requires_grad for w in weights.values())
    with pytest.raises(RuntimeError, match="channels must be at least 1"):
        opgate_ops.IdentityModel(0)


@pytest.fixture(scope="module")
def exported() -> torch.export.ExportedProgram:
    """IdentityModel(3) with every dimension but the channels dynamic."""
    dynamic = torch.export.Dim.DYNAMIC
    return torch.export.export(
        opgate_ops.IdentityModel(),
        (torch.randn(2, 3, 16, 24),),
        dynamic_shapes=({0: dynamic, 2: dynamic, 3: dynamic},),
    )


def test_the_exported_graph_holds_class_and_op(exported: torch.export.ExportedProgram) -> None:
    calls = [node for node in exported.graph.nodes if node.op == "call_function"]
    assert [node.target for node in calls] == [
        torch.ops.aten.conv2d.default,
        torch.ops.higher_order.call_torchbind,
        torch.ops.opgate_ops.identity_conv.default,
        torch.ops.aten.conv2d.default,
    ]
    for node in calls:
        symbolic = [isinstance(size, torch.SymInt) for size in node.meta["val"].shape]
        assert symbolic == [True, False, True, True], f"{node.target} fixed a size"


def test_the_exported_program_survives_save_and_load(
    exported: torch.export.ExportedProgram, tmp_path: Path
) -> None:
    torch.export.save(exported, tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    for shape in [(2, 3, 16, 24), (5, 3, 9, 7)]:  # the traced sizes, and others
        x = torch.randn(shape)
        assert torch.equal(bits(loaded(x)), bits(x))


def import_elsewhere(folder: Path, library: Path | None) -> subprocess.CompletedProcess[str]:
    """Import the package from a copy without lib in `folder`; OPGATE_OPS_LIB is `library`."""
    source = Path(opgate_ops.__file__).parent
    shutil.copytree(source, folder / "opgate_ops", ignore=lambda *_: {"lib", "__pycache__"})
    env = {**os.environ, "PYTHONPATH": str(folder)}
    env.pop("OPGATE_OPS_LIB", None)
    if library is not None:
        env["OPGATE_OPS_LIB"] = str(library)
    program = "import torch, opgate_ops; x = torch.ones(3); print(opgate_ops.identity_conv(x).sum())"
    return subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )


def last_line(text: str) -> str:
    """The last line of `text`: what a traceback ends with."""
    return text.rstrip().splitlines()[-1]


def test_the_variable_names_another_library(tmp_path: Path) -> None:
    result = import_elsewhere(tmp_path, opgate_ops.library_path())
    assert (result.returncode, result.stdout) == (0, "tensor(3.)\n"), result.stderr


def test_a_library_that_is_not_there_is_explained(tmp_path: Path) -> None:
    line = last_line(import_elsewhere(tmp_path, None).stderr)
    where = tmp_path / "opgate_ops" / "lib" / "libopgate_ops.so"
    assert line.startswith(f"ImportError: opgate_ops: no operator library at {where}. Build it")


def test_a_variable_that_names_nothing_is_explained(tmp_path: Path) -> None:
    line = last_line(import_elsewhere(tmp_path, tmp_path / "gone.so").stderr)
    assert line.startswith(f"ImportError: opgate_ops: OPGATE_OPS_LIB names {tmp_path / 'gone.so'}")


def test_a_library_that_does_not_load_is_explained_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_text("not a shared library, but long enough to be read as one\n" * 10)
    line = last_line(import_elsewhere(tmp_path, broken).stderr)
    assert line.startswith(f"ImportError: opgate_ops: {broken} does not load with torch ")
    assert line.endswith("invalid ELF header")
