#include "arguments.h"

#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>

#include "../common/checks.h"

namespace opgate_ops {
namespace {

// Checks a tensor of indices, which must have as many elements as `first`, which was checked before.
void check_indices(const Named& x, const Named& depth, const Named& first) {
  check_dtype(x, at::kInt);
  TORCH_CHECK(x.tensor.device() == depth.tensor.device(), x.op, ": ", x.name,
              " must be on the device of depth, ", depth.tensor.device(), ", got ", x.tensor.device());
  check_dims(x, 1);
  TORCH_SYM_CHECK(x.tensor.sym_size(0).sym_eq(first.tensor.sym_size(0)), x.op, ": ", x.name, " must have ",
                  first.tensor.sym_size(0), " elements as ", first.name, " has, got ", x.tensor.sym_size(0));
}

void check_inputs(const char* op, const PoolInputs& in) {
  const Named depth{op, "depth", in.depth}, feat{op, "feat", in.feat};
  check_floating(depth);
  check_dims(depth, 5);
  check_like(feat, depth);
  check_dims(feat, 5);
  check_size(feat, 0, in.depth.sym_size(0), "the B of depth [B, N, D, H, W]");
  check_size(feat, 1, in.depth.sym_size(1), "the N of depth [B, N, D, H, W]");
  check_size(feat, 2, in.depth.sym_size(3), "the H of depth [B, N, D, H, W]");
  check_size(feat, 3, in.depth.sym_size(4), "the W of depth [B, N, D, H, W]");

  const Named ranks{op, "ranks_depth", in.ranks_depth}, starts{op, "interval_starts", in.interval_starts};
  check_indices(ranks, depth, ranks);
  check_indices({op, "ranks_feat", in.ranks_feat}, depth, ranks);
  check_indices({op, "ranks_bev", in.ranks_bev}, depth, ranks);
  check_indices(starts, depth, starts);
  check_indices({op, "interval_lengths", in.interval_lengths}, depth, starts);
}

// Checks the ranks of the points [start, end) of an interval.
void check_ranks(const char* op, const char* name, const int32_t* ranks, int64_t start, int64_t end,
                 int64_t size, const char* what) {
  const auto [least, most] = std::minmax_element(ranks + start, ranks + end);
  TORCH_CHECK(*least >= 0, op, ": ", name, " must not be negative, got ", *least, " at ", least - ranks);
  TORCH_CHECK(*most < size, op, ": ", name, "[", most - ranks, "] is out of range: ", *most,
              ", but there are ", size, " ", what);
}

}  // namespace

PoolInputs PoolInputs::contiguous() const {
  return {depth.contiguous(),           feat.contiguous(),      ranks_depth.contiguous(),
          ranks_feat.contiguous(),      ranks_bev.contiguous(), interval_starts.contiguous(),
          interval_lengths.contiguous()};
}

void check_pool(const char* op, const PoolInputs& inputs, c10::SymIntArrayRef bev_shape) {
  check_inputs(op, inputs);
  TORCH_CHECK(bev_shape.size() == 4, op, ": bev_shape must be (B, Z, Y, X), got ", bev_shape);
  for (const c10::SymInt& size : bev_shape)
    TORCH_SYM_CHECK(size.sym_ge(0), op, ": bev_shape must not be negative, got ", bev_shape);
  TORCH_SYM_CHECK(bev_shape[0].sym_eq(inputs.depth.sym_size(0)), op,
                  ": bev_shape must begin with the B of depth, ", inputs.depth.sym_size(0), ", got ",
                  bev_shape);
}

void check_pool_backward(const char* op, const at::Tensor& grad, const PoolInputs& inputs) {
  check_inputs(op, inputs);
  const Named gradient{op, "grad", grad};
  check_like(gradient, {op, "depth", inputs.depth});
  check_dims(gradient, 5);
  check_size(gradient, 0, inputs.depth.sym_size(0), "the B of depth");
  check_size(gradient, 4, inputs.feat.sym_size(4), "the C of feat");
}

PoolIndices indices_of(const char* op, const PoolInputs& in, at::IntArrayRef bev_shape) {
  int64_t voxels = 1;
  for (const int64_t size : bev_shape.slice(0, 4)) {
    TORCH_CHECK(!c10::mul_overflows(voxels, size, &voxels), op,
                ": bev_shape has too many voxels to count: ", bev_shape);
  }
  return {in.ranks_depth.const_data_ptr<int32_t>(),
          in.ranks_feat.const_data_ptr<int32_t>(),
          in.ranks_bev.const_data_ptr<int32_t>(),
          in.interval_starts.const_data_ptr<int32_t>(),
          in.interval_lengths.const_data_ptr<int32_t>(),
          in.ranks_depth.numel(),
          in.interval_starts.numel(),
          in.depth.numel(),
          in.feat.size(0) * in.feat.size(1) * in.feat.size(2) * in.feat.size(3),
          voxels};
}

void check_values(const char* op, const PoolIndices& in) {
  int64_t end = 0;
  int64_t voxel = -1;
  for (int64_t i = 0; i < in.intervals; ++i) {
    const int64_t start = in.starts[i];
    const int64_t length = in.lengths[i];
    TORCH_CHECK(length > 0, op, ": interval_lengths must be positive, got ", length, " at ", i);
    TORCH_CHECK(start >= 0 && start + length <= in.points, op, ": interval_starts[", i,
                "] and interval_lengths[", i, "] are out of range: ", start, " and ", length,
                ", but there are ", in.points, " points");
    TORCH_CHECK(start >= end, op, ": interval_starts must ascend, and intervals not overlap; interval ", i,
                " starts at ", start, ", the one before ends at ", end);
    end = start + length;
    check_ranks(op, "ranks_depth", in.ranks_depth, start, end, in.cells, "elements of depth");
    check_ranks(op, "ranks_feat", in.ranks_feat, start, end, in.rows, "pixels of feat");
    check_ranks(op, "ranks_bev", in.ranks_bev, start, end, in.voxels, "voxels of the grid");
    const int32_t* const bev = in.ranks_bev + start;
    TORCH_CHECK(bev[0] > voxel, op, ": ranks_bev must ascend from interval to interval; interval ", i,
                " is of voxel ", bev[0], ", the one before of ", voxel);
    const int32_t* const other =
        std::find_if(bev, bev + length, [bev](int32_t rank) { return rank != bev[0]; });
    TORCH_CHECK(other == bev + length, op,
                ": ranks_bev must be the same for all points of an interval; interval ", i, " has ", bev[0],
                " and ", *other);
    voxel = bev[0];
  }
}

}  // namespace opgate_ops
