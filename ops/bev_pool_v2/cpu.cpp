// bev_pool_v2 and its backward on the CPU. Half types are summed in float, other dtypes in their own dtype.
// Each sum is made in one order, independent of the number of threads.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "../common/multiversion.h"
#include "arguments.h"

namespace opgate_ops {
namespace {

// Fewer multiplications than this are not worth a second thread.
constexpr int64_t kValuesPerTask = 32768;

// Makes all inputs contiguous and converts depth and feat to the dtype of the sums. Many points read the
// same row of feat, so that converting it once is cheaper than converting it each time.
PoolInputs widened(PoolInputs inputs, at::ScalarType sum_dtype) {
  inputs.depth = inputs.depth.to(sum_dtype);
  inputs.feat = inputs.feat.to(sum_dtype);
  return inputs.contiguous();
}

int64_t points_per_task(int64_t channels) {
  return std::max<int64_t>(kValuesPerTask / std::max<int64_t>(channels, 1), 1);
}

// Adds depth * feature of `count` points to sums[0, channels). It takes four points at a time, so that sums
// are loaded and stored once for four additions, which are made one after the other in the order of the
// points.
template <typename sum_t>
OPGATE_OPS_MULTIVERSION void add_points(const sum_t* depth, const sum_t* feat, const int32_t* cells,
                                        const int32_t* rows, int64_t count, int64_t channels,
                                        sum_t* __restrict sums) {
  int64_t p = 0;
  for (; p + 4 <= count; p += 4) {
    const sum_t w0 = depth[cells[p]], w1 = depth[cells[p + 1]], w2 = depth[cells[p + 2]],
                w3 = depth[cells[p + 3]];
    const sum_t *f0 = feat + rows[p] * channels, *f1 = feat + rows[p + 1] * channels,
                *f2 = feat + rows[p + 2] * channels, *f3 = feat + rows[p + 3] * channels;
    for (int64_t c = 0; c < channels; ++c)
      sums[c] = (((sums[c] + w0 * f0[c]) + w1 * f1[c]) + w2 * f2[c]) + w3 * f3[c];
  }
  for (; p < count; ++p) {
    const sum_t w = depth[cells[p]];
    const sum_t* const f = feat + rows[p] * channels;
    for (int64_t c = 0; c < channels; ++c) sums[c] += w * f[c];
  }
}

// Writes the voxels of the intervals [first, last) and the empty voxels before each. After the very last
// interval, it also writes the empty voxels up to the end.
template <typename sum_t>
void pool_intervals(const sum_t* depth, const sum_t* feat, const PoolIndices& in, int64_t first, int64_t last,
                    int64_t channels, sum_t* out) {
  const auto zero = [&](int64_t from, int64_t to) {
    std::fill(out + from * channels, out + to * channels, sum_t(0));
  };
  int64_t next = first == 0 ? 0 : in.ranks_bev[in.starts[first - 1]] + int64_t{1};
  for (int64_t i = first; i < last; ++i) {
    const int64_t start = in.starts[i];
    const int64_t voxel = in.ranks_bev[start];
    zero(next, voxel + 1);
    add_points(depth, feat, in.ranks_depth + start, in.ranks_feat + start, in.lengths[i], channels,
               out + voxel * channels);
    next = voxel + 1;
  }
  if (last == in.intervals) zero(next, in.voxels);
}

at::Tensor bev_pool_v2_cpu(const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
                           const at::Tensor& ranks_feat, const at::Tensor& ranks_bev,
                           const at::Tensor& interval_starts, const at::Tensor& interval_lengths,
                           at::IntArrayRef bev_shape) {
  constexpr const char* kOp = "bev_pool_v2";
  const PoolInputs given{depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths};
  check_pool(kOp, given, c10::fromIntArrayRefSlow(bev_shape));
  const at::ScalarType sum_dtype = at::toOpMathType(depth.scalar_type());
  const PoolInputs inputs = widened(given, sum_dtype);
  const PoolIndices in = indices_of(kOp, inputs, bev_shape);
  check_values(kOp, in);

  const int64_t channels = feat.size(4);
  const std::array<int64_t, 5> sizes{bev_shape[0], bev_shape[1], bev_shape[2], bev_shape[3], channels};
  if (in.intervals == 0) return at::zeros(sizes, depth.options());
  at::Tensor out = at::empty(sizes, depth.options().dtype(sum_dtype));
  AT_DISPATCH_FLOATING_TYPES(sum_dtype, kOp, [&] {
    const auto* weights = inputs.depth.const_data_ptr<scalar_t>();
    const auto* features = inputs.feat.const_data_ptr<scalar_t>();
    auto* to = out.mutable_data_ptr<scalar_t>();
    // Each task has the same number of points, because intervals differ much in length. An interval belongs
    // to the task in which it starts. The first task starts before all intervals.
    const int32_t* const end = in.starts + in.intervals;
    at::parallel_for(0, in.points, points_per_task(channels), [&](int64_t first, int64_t last) {
      const auto from = std::lower_bound(in.starts, end, first) - in.starts;
      const auto until = std::lower_bound(in.starts, end, last) - in.starts;
      if (from != until) pool_intervals(weights, features, in, from, until, channels, to);
    });
  });
  return out.to(depth.scalar_type());
}

// A point as the backward visits it, with the product of its feature and the gradient of its voxel.
struct RowPoint {
  int32_t cell;
  int32_t voxel;
};

// The points in intervals, sorted by the row of feat that they read. The points of row r are [ends[r - 1],
// ends[r]) and keep their order.
struct SortedPoints {
  std::vector<int64_t> ends;
  std::vector<RowPoint> points;
};

SortedPoints sort_by_row(const PoolIndices& in) {
  std::vector<int64_t> next(in.rows + 1, 0);
  const auto for_each_point = [&in](const auto& visit) {
    for (int64_t i = 0; i < in.intervals; ++i) {
      const int64_t start = in.starts[i];
      for (int64_t p = start; p < start + in.lengths[i]; ++p) visit(p, in.ranks_bev[start]);
    }
  };
  for_each_point([&](int64_t p, int32_t) { ++next[in.ranks_feat[p] + 1]; });
  for (int64_t row = 0; row < in.rows; ++row) next[row + 1] += next[row];
  SortedPoints sorted;
  sorted.points.resize(next[in.rows]);
  for_each_point([&](int64_t p, int32_t voxel) {
    sorted.points[next[in.ranks_feat[p]]++] = {in.ranks_depth[p], voxel};
  });
  next.pop_back();
  sorted.ends = std::move(next);
  return sorted;
}

// Adds weight * grad to sums and returns the inner product of grad and feat, both over the channels. The
// inner product is summed in kLanes parts, which the compiler keeps in vector registers.
template <typename sum_t>
inline sum_t add_point(const sum_t* grad, const sum_t* feat, sum_t weight, int64_t channels,
                       sum_t* __restrict sums) {
  constexpr int64_t kLanes = 16;
  sum_t parts[kLanes] = {};
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      sums[c + lane] += weight * grad[c + lane];
      parts[lane] += grad[c + lane] * feat[c + lane];
    }
  }
  for (int64_t lane = 0; c < channels; ++c, ++lane) {
    sums[c] += weight * grad[c];
    parts[lane] += grad[c] * feat[c];
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) parts[lane] += parts[lane + half];
  }
  return parts[0];
}

// Writes the gradients of the rows [first, last) of feat, and the products of their points.
template <typename sum_t>
OPGATE_OPS_MULTIVERSION void row_gradients(const sum_t* grad, const sum_t* depth, const sum_t* feat,
                                           const SortedPoints& sorted, int64_t first, int64_t last,
                                           int64_t channels, sum_t* products, sum_t* grad_feat) {
  for (int64_t row = first; row < last; ++row) {
    sum_t* const sums = grad_feat + row * channels;
    std::fill(sums, sums + channels, sum_t(0));
    for (int64_t i = row == 0 ? 0 : sorted.ends[row - 1]; i < sorted.ends[row]; ++i) {
      const auto& [cell, voxel] = sorted.points[i];
      products[i] = add_point(grad + voxel * channels, feat + row * channels, depth[cell], channels, sums);
    }
  }
}

std::tuple<at::Tensor, at::Tensor> bev_pool_v2_backward_cpu(
    const at::Tensor& grad, const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
    const at::Tensor& ranks_feat, const at::Tensor& ranks_bev, const at::Tensor& interval_starts,
    const at::Tensor& interval_lengths) {
  constexpr const char* kOp = "bev_pool_v2_backward";
  const PoolInputs given{depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths};
  check_pool_backward(kOp, grad, given);
  const at::ScalarType sum_dtype = at::toOpMathType(depth.scalar_type());
  const PoolInputs inputs = widened(given, sum_dtype);
  const PoolIndices in = indices_of(kOp, inputs, grad.sizes());
  check_values(kOp, in);

  const int64_t channels = feat.size(4);
  const at::Tensor dense_grad = grad.to(sum_dtype).contiguous();
  const SortedPoints sorted = sort_by_row(in);
  const auto points = static_cast<int64_t>(sorted.points.size());
  const auto options = depth.options().dtype(sum_dtype);
  at::Tensor grad_feat = points == 0 ? at::zeros(feat.sizes(), options) : at::empty(feat.sizes(), options);
  at::Tensor grad_depth = at::zeros(depth.sizes(), options);
  AT_DISPATCH_FLOATING_TYPES(sum_dtype, kOp, [&] {
    std::vector<scalar_t> products(points);
    const auto* gradients = dense_grad.const_data_ptr<scalar_t>();
    const auto* weights = inputs.depth.const_data_ptr<scalar_t>();
    const auto* features = inputs.feat.const_data_ptr<scalar_t>();
    auto* to_feat = grad_feat.mutable_data_ptr<scalar_t>();
    // A row belongs to the task in which its points end; a row without points belongs to the task of the
    // point before.
    at::parallel_for(0, points, points_per_task(channels), [&](int64_t first, int64_t last) {
      const auto row_of = [&](int64_t point) {
        return std::upper_bound(sorted.ends.begin(), sorted.ends.end(), point) - sorted.ends.begin();
      };
      row_gradients(gradients, weights, features, sorted, first == 0 ? 0 : row_of(first), row_of(last),
                    channels, products.data(), to_feat);
    });
    auto* to_depth = grad_depth.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < points; ++i) to_depth[sorted.points[i].cell] += products[i];
  });
  return {grad_depth.to(depth.scalar_type()), grad_feat.to(depth.scalar_type())};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) {
  m.impl("bev_pool_v2", &opgate_ops::bev_pool_v2_cpu);
  m.impl("bev_pool_v2_backward", &opgate_ops::bev_pool_v2_backward_cpu);
}
