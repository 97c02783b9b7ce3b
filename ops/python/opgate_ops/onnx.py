"""Export of this library's operators to ONNX, in two forms.

    torch.onnx.export(model, args, dynamo=True, custom_translation_table=AS_STANDARD_OPERATORS)

`AS_STANDARD_OPERATORS` exports an operator as standard ONNX operators, which every runtime has.
`AS_CUSTOM_OPERATORS` exports it as one node of the domain `opgate_ops`, for a runtime that has a kernel for
it. This module needs the packages onnx and onnxscript.
"""

from collections.abc import Sequence

import onnx
import torch
from onnxscript import ir
from onnxscript import opset18 as op
from onnxscript.values import Op, Opset

DOMAIN = Opset("opgate_ops", 1)
FLOATING = ["tensor(float16)", "tensor(bfloat16)", "tensor(float)", "tensor(double)"]


def _bev_pool_v2_schema() -> onnx.defs.OpSchema:
    """Inputs in the order of the operator's own schema; bev_shape is a tensor of four numbers."""
    parameter = onnx.defs.OpSchema.FormalParameter
    indices = ("ranks_depth", "ranks_feat", "ranks_bev", "interval_starts", "interval_lengths")
    return onnx.defs.OpSchema(
        "BevPoolV2",
        DOMAIN.domain,
        DOMAIN.version,
        inputs=[
            parameter("depth", "T"),
            parameter("feat", "T"),
            *(parameter(name, "tensor(int32)") for name in indices),
            parameter("bev_shape", "tensor(int64)"),
        ],
        outputs=[parameter("out", "T")],
        type_constraints=[("T", FLOATING, "what depth, feat and the result share")],
    )


BEV_POOL_V2 = Op(DOMAIN, "BevPoolV2", _bev_pool_v2_schema())


def _as_tensor(sizes: Sequence[int | ir.Value]) -> ir.Value:
    """The sizes, some of which may be known only at run time, as a tensor of one dimension."""
    return op.Concat(
        *(
            op.Constant(value_ints=[size])
            if isinstance(size, int)
            else op.Reshape(size, op.Constant(value_ints=[1]))
            for size in sizes
        ),
        axis=0,
    )


def _filled(shape: ir.Value, number: ir.Value) -> ir.Value:
    """A tensor of this shape that holds one number everywhere."""
    return op.Expand(number, shape)


def bev_pool_v2_as_node(
    depth: ir.Value,
    feat: ir.Value,
    ranks_depth: ir.Value,
    ranks_feat: ir.Value,
    ranks_bev: ir.Value,
    interval_starts: ir.Value,
    interval_lengths: ir.Value,
    bev_shape: Sequence[int | ir.Value],
) -> ir.Value:
    """Exports bev_pool_v2 as one node opgate_ops::BevPoolV2."""
    return BEV_POOL_V2(
        depth,
        feat,
        ranks_depth,
        ranks_feat,
        ranks_bev,
        interval_starts,
        interval_lengths,
        _as_tensor(bev_shape),
    )


def bev_pool_v2_as_standard_operators(
    depth: ir.Value,
    feat: ir.Value,
    ranks_depth: ir.Value,
    ranks_feat: ir.Value,
    ranks_bev: ir.Value,
    interval_starts: ir.Value,
    interval_lengths: ir.Value,
    bev_shape: Sequence[int | ir.Value],
) -> ir.Value:
    """Exports bev_pool_v2 as gathers, a multiplication and a scattered addition; sums half types in float."""
    dtype = depth.dtype
    sum_dtype = ir.DataType.DOUBLE if dtype == ir.DataType.DOUBLE else ir.DataType.FLOAT
    zero = op.Constant(value_ints=[0])
    one = op.Constant(value_ints=[1])
    zero_sum = op.Cast(zero, to=sum_dtype)

    # A point is inside an interval if more intervals have begun than ended: the running sum of 1 at each
    # start and -1 at each end. Points outside every interval may have invalid ranks, and must not count.
    points = op.Shape(ranks_depth)
    starts = op.Cast(interval_starts, to=ir.DataType.INT64)
    ends = op.Add(starts, op.Cast(interval_lengths, to=ir.DataType.INT64))
    ones = _filled(op.Shape(starts), one)
    changes = _filled(op.Add(points, one), zero)
    changes = op.ScatterElements(changes, starts, ones, axis=0, reduction="add")
    changes = op.ScatterElements(changes, ends, op.Neg(ones), axis=0, reduction="add")
    inside = op.Greater(op.Slice(op.CumSum(changes, zero), zero, points), zero)

    def in_interval(ranks: ir.Value) -> ir.Value:
        return op.Where(inside, op.Cast(ranks, to=ir.DataType.INT64), zero)

    channels = op.Shape(feat, start=4)
    rows = op.Reshape(feat, op.Concat(op.Constant(value_ints=[-1]), channels, axis=0))
    weights = op.Gather(op.Reshape(depth, op.Constant(value_ints=[-1])), in_interval(ranks_depth), axis=0)
    features = op.Gather(rows, in_interval(ranks_feat), axis=0)
    terms = op.Mul(op.Cast(features, to=sum_dtype), op.Cast(op.Unsqueeze(weights, one), to=sum_dtype))
    terms = op.Where(op.Unsqueeze(inside, one), terms, zero_sum)

    shape = _as_tensor(bev_shape)
    voxels = op.ReduceProd(shape, keepdims=True)
    grid = _filled(op.Concat(voxels, channels, axis=0), zero_sum)
    sums = op.ScatterND(grid, op.Unsqueeze(in_interval(ranks_bev), one), terms, reduction="add")
    return op.Cast(op.Reshape(sums, op.Concat(shape, channels, axis=0), allowzero=1), to=dtype)


AS_CUSTOM_OPERATORS = {torch.ops.opgate_ops.bev_pool_v2.default: bev_pool_v2_as_node}
AS_STANDARD_OPERATORS = {torch.ops.opgate_ops.bev_pool_v2.default: bev_pool_v2_as_standard_operators}
