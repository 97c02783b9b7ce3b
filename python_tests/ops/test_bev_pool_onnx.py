"""bev_pool_v2 exported to ONNX: as one node, and as standard operators that stock onnxruntime runs."""

import onnx
import onnxruntime
import opgate_ops
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from opgate_ops.bev_pool import PoolIndices
from opgate_ops.onnx import AS_CUSTOM_OPERATORS, AS_STANDARD_OPERATORS

INPUTS = ("depth", "feat", *PoolIndices._fields)


class Pool(torch.nn.Module):
    """The operator in a program whose batch and cameras may change."""

    def forward(self, depth: torch.Tensor, feat: torch.Tensor, *indices: torch.Tensor) -> torch.Tensor:
        return opgate_ops.bev_pool_v2(depth, feat, *indices, (depth.shape[0], 2, 4, 3))


def scene(
    batch: int, cameras: int, channels: int, dtype: torch.dtype = torch.float, *, left_out: int = 0
) -> tuple[torch.Tensor, ...]:
    """Inputs of `Pool`. The last `left_out` points are in no interval, and have ranks out of range."""
    generator = torch.Generator().manual_seed(batch * 10 + cameras)
    depth = torch.rand(batch, cameras, 5, 4, 6, generator=generator).to(dtype)
    feat = torch.randn(batch, cameras, 4, 6, channels, generator=generator).to(dtype)
    coor = torch.rand(batch, cameras, 5, 4, 6, 3, generator=generator) * 2 - 1
    ranks_depth, ranks_feat, ranks_bev, starts, lengths = opgate_ops.bev_pool_prepare(
        coor, (-0.8, -0.8, -0.8), (0.5, 0.4, 0.8), (3, 4, 2)
    )
    wild = torch.full((left_out,), 10**6, dtype=torch.int32)
    ranks = [torch.cat((kept, wild)) for kept in (ranks_depth, ranks_feat, ranks_bev)]
    return (depth, feat, *ranks, starts, lengths)


def exported(table: dict, inputs: tuple[torch.Tensor, ...]) -> onnx.ModelProto:
    """`Pool` with every size that may change left open."""
    batch, cameras, channels, points, intervals = map(
        torch.export.Dim, ("batch", "cameras", "channels", "points", "intervals")
    )
    program = torch.onnx.export(
        Pool().eval(),
        inputs,
        input_names=INPUTS,
        output_names=["out"],
        dynamo=True,
        verbose=False,
        custom_translation_table=table,
        dynamic_shapes=(
            {0: batch, 1: cameras},
            {0: batch, 1: cameras, 4: channels},
            ({0: points}, {0: points}, {0: points}, {0: intervals}, {0: intervals}),
        ),
    )
    return program.model_proto


def feed(inputs: tuple[torch.Tensor, ...]) -> dict:
    """The inputs by name, as onnxruntime takes them."""
    return {name: x.numpy() for name, x in zip(INPUTS, inputs, strict=True)}


@pytest.fixture(scope="module", params=[torch.float, torch.half, torch.double], ids=str)
def session(request: pytest.FixtureRequest) -> tuple[onnxruntime.InferenceSession, torch.dtype]:
    """The program in standard operators, in onnxruntime."""
    model = exported(AS_STANDARD_OPERATORS, scene(2, 3, 7, request.param))
    onnx.checker.check_model(model, full_check=True)
    assert {node.domain for node in model.graph.node} <= {"", "ai.onnx"}
    assert not model.functions
    return (
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]),
        request.param,
    )


@pytest.mark.parametrize(
    "sizes", [(2, 3, 7), (1, 1, 7), (4, 2, 80), (3, 5, 1)], ids=lambda sizes: "x".join(map(str, sizes))
)
@pytest.mark.parametrize("left_out", [0, 3])
def test_onnxruntime_agrees_with_eager_for_sizes_other_than_the_traced(
    sizes: tuple[int, int, int], left_out: int, session: tuple[onnxruntime.InferenceSession, torch.dtype]
) -> None:
    run, dtype = session
    inputs = scene(*sizes, dtype, left_out=left_out)
    (got,) = run.run(["out"], feed(inputs))
    want = Pool()(*inputs)
    assert got.shape == want.shape
    torch.testing.assert_close(torch.from_numpy(got), want)


def test_onnxruntime_gives_zeros_for_no_points(
    session: tuple[onnxruntime.InferenceSession, torch.dtype],
) -> None:
    run, dtype = session
    depth, feat, *_ = scene(2, 3, 7, dtype)
    (got,) = run.run(["out"], feed((depth, feat, *[torch.empty(0, dtype=torch.int32)] * 5)))
    assert torch.equal(torch.from_numpy(got), torch.zeros(2, 7, 2, 4, 3, dtype=dtype))


class BevPoolV2(OpRun):
    """A runtime's kernel for the custom node: eager, by position."""

    op_domain = "opgate_ops"

    def _run(self, *inputs):  # noqa: ANN002, ANN202 - as onnx calls it
        *tensors, bev_shape = inputs
        arguments = [torch.from_numpy(x.copy()) for x in tensors]
        return (torch.ops.opgate_ops.bev_pool_v2.default(*arguments, bev_shape.tolist()).numpy(),)


def test_the_custom_form_is_one_node_that_a_runtime_can_implement() -> None:
    model = exported(AS_CUSTOM_OPERATORS, scene(2, 3, 7))
    nodes = [node for node in model.graph.node if node.domain == "opgate_ops"]
    assert [(node.op_type, list(node.input[:7])) for node in nodes] == [("BevPoolV2", list(INPUTS))]
    assert {entry.domain: entry.version for entry in model.opset_import}["opgate_ops"] == 1
    run = ReferenceEvaluator(model, new_ops=[BevPoolV2])
    for inputs in (scene(2, 3, 7), scene(1, 2, 5)):
        (got,) = run.run(None, feed(inputs))
        assert torch.equal(torch.from_numpy(got), Pool()(*inputs))
