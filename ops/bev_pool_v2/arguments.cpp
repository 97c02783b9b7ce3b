#include "arguments.h"

#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <array>
#include <utility>

namespace opgate_ops {
namespace {

using Named = std::pair<const char*, const at::Tensor&>;

void check_tensor(const char* op, const Named& argument, const at::Tensor& depth) {
  const auto& [name, tensor] = argument;
  TORCH_CHECK(tensor.defined(), op, ": ", name, " must be a tensor, got an undefined one");
  TORCH_CHECK(tensor.device() == depth.device(), op, ": ", name, " must be on ", depth.device(),
              " as depth is, got ", tensor.device());
}

void check_indices(const char* op, const Named& argument, const Named& as_many_as, const at::Tensor& depth) {
  check_tensor(op, argument, depth);
  const auto& [name, tensor] = argument;
  TORCH_CHECK(tensor.scalar_type() == at::kInt, op, ": ", name, " must be Int, got ", tensor.scalar_type());
  TORCH_CHECK(tensor.dim() == 1, op, ": ", name, " must have 1 dimension, got shape ", tensor.sym_sizes());
  TORCH_SYM_CHECK(tensor.sym_size(0).sym_eq(as_many_as.second.sym_size(0)), op, ": ", name, " must have ",
                  as_many_as.second.sym_size(0), " elements as ", as_many_as.first, " has, got ",
                  tensor.sym_size(0));
}

void check_inputs(const char* op, const PoolInputs& in) {
  const at::Tensor& depth = in.depth;
  check_tensor(op, {"depth", depth}, depth);
  const at::ScalarType dtype = depth.scalar_type();
  TORCH_CHECK(dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble, op,
              ": depth must be Half, BFloat16, Float or Double, got ", dtype);
  TORCH_CHECK(depth.dim() == 5, op, ": depth must be [B, N, D, H, W], got shape ", depth.sym_sizes());

  const at::Tensor& feat = in.feat;
  check_tensor(op, {"feat", feat}, depth);
  TORCH_CHECK(feat.scalar_type() == dtype, op, ": feat must be ", dtype, " as depth is, got ",
              feat.scalar_type());
  TORCH_CHECK(feat.dim() == 5, op, ": feat must be [B, N, H, W, C], got shape ", feat.sym_sizes());
  constexpr std::array<std::pair<int64_t, int64_t>, 4> kSame{{{0, 0}, {1, 1}, {2, 3}, {3, 4}}};
  for (const auto& [mine, theirs] : kSame) {
    TORCH_SYM_CHECK(
        feat.sym_size(mine).sym_eq(depth.sym_size(theirs)), op,
        ": feat must be [B, N, H, W, C] of the same B, N, H, W as depth, which is [B, N, D, H, W] = ",
        depth.sym_sizes(), "; got shape ", feat.sym_sizes());
  }

  const Named ranks{"ranks_depth", in.ranks_depth};
  check_tensor(op, ranks, depth);
  check_indices(op, ranks, ranks, depth);
  check_indices(op, {"ranks_feat", in.ranks_feat}, ranks, depth);
  check_indices(op, {"ranks_bev", in.ranks_bev}, ranks, depth);
  const Named starts{"interval_starts", in.interval_starts};
  check_tensor(op, starts, depth);
  check_indices(op, starts, starts, depth);
  check_indices(op, {"interval_lengths", in.interval_lengths}, starts, depth);
}

// Of the points [start, end), which an interval holds.
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
  check_tensor(op, {"grad", grad}, inputs.depth);
  TORCH_CHECK(grad.scalar_type() == inputs.depth.scalar_type(), op, ": grad must be ",
              inputs.depth.scalar_type(), " as depth is, got ", grad.scalar_type());
  TORCH_CHECK(grad.dim() == 5, op, ": grad must be [B, Z, Y, X, C], got shape ", grad.sym_sizes());
  TORCH_SYM_CHECK(grad.sym_size(0).sym_eq(inputs.depth.sym_size(0)), op,
                  ": grad must begin with the B of depth, ", inputs.depth.sym_size(0), ", got shape ",
                  grad.sym_sizes());
  TORCH_SYM_CHECK(grad.sym_size(4).sym_eq(inputs.feat.sym_size(4)), op,
                  ": grad must end with the C of feat, ", inputs.feat.sym_size(4), ", got shape ",
                  grad.sym_sizes());
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
