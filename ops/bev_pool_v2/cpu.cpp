// bev_pool_v2 and its backward on the CPU. Sums of half types are made in float, those of the others in their
// own dtype; each in one order, whatever the number of threads.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "arguments.h"

namespace opgate_ops {
namespace {

// Fewer multiplications than this are not worth a second thread.
constexpr int64_t kGrain = 32768;

int64_t points_per_task(int64_t channels) {
  return std::max<int64_t>(kGrain / std::max<int64_t>(channels, 1), 1);
}

// Adds depth * feature of `count` points to sum[0, channels). Four points at a time, so that sums are loaded
// and stored once for four additions; these are made one after the other, in the order of the points.
template <typename scalar_t, typename sum_t>
void add_points(const scalar_t* depth, const scalar_t* feat, const int32_t* cells, const int32_t* rows,
                int64_t count, int64_t channels, sum_t* __restrict sum) {
  const auto weight = [&](int64_t p) { return static_cast<sum_t>(depth[cells[p]]); };
  const auto row = [&](int64_t p) { return feat + rows[p] * channels; };
  int64_t p = 0;
  for (; p + 4 <= count; p += 4) {
    const sum_t w0 = weight(p), w1 = weight(p + 1), w2 = weight(p + 2), w3 = weight(p + 3);
    const scalar_t *f0 = row(p), *f1 = row(p + 1), *f2 = row(p + 2), *f3 = row(p + 3);
    for (int64_t c = 0; c < channels; ++c) {
      sum[c] = (((sum[c] + w0 * static_cast<sum_t>(f0[c])) + w1 * static_cast<sum_t>(f1[c])) +
                w2 * static_cast<sum_t>(f2[c])) +
               w3 * static_cast<sum_t>(f3[c]);
    }
  }
  for (; p < count; ++p) {
    const sum_t w = weight(p);
    const scalar_t* const f = row(p);
    for (int64_t c = 0; c < channels; ++c) sum[c] += w * static_cast<sum_t>(f[c]);
  }
}

// Writes the voxels of the intervals [first, last), and the empty voxels before each; behind the last
// interval of all, those to the end.
template <typename scalar_t>
void pool_intervals(const scalar_t* depth, const scalar_t* feat, const PoolIndices& in, int64_t first,
                    int64_t last, int64_t channels, scalar_t* out) {
  using sum_t = at::opmath_type<scalar_t>;
  constexpr bool kSumsInPlace = std::is_same_v<scalar_t, sum_t>;
  std::vector<sum_t> sums(kSumsInPlace ? 0 : channels);
  const auto zero = [&](int64_t from, int64_t to) {
    std::fill(out + from * channels, out + to * channels, scalar_t(0));
  };
  int64_t next = first == 0 ? 0 : in.ranks_bev[in.starts[first - 1]] + int64_t{1};
  for (int64_t i = first; i < last; ++i) {
    const int64_t start = in.starts[i];
    const int64_t voxel = in.ranks_bev[start];
    const auto add_to = [&](sum_t* sum) {
      add_points(depth, feat, in.ranks_depth + start, in.ranks_feat + start, in.lengths[i], channels, sum);
    };
    if constexpr (kSumsInPlace) {
      zero(next, voxel + 1);
      add_to(out + voxel * channels);
    } else {
      zero(next, voxel);
      std::fill(sums.begin(), sums.end(), sum_t(0));
      add_to(sums.data());
      std::transform(sums.begin(), sums.end(), out + voxel * channels,
                     [](sum_t sum) { return static_cast<scalar_t>(sum); });
    }
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
  const PoolInputs inputs = given.contiguous();
  const PoolIndices in = indices_of(kOp, inputs, bev_shape);
  check_values(kOp, in);

  const int64_t channels = feat.size(4);
  const std::array<int64_t, 5> sizes{bev_shape[0], bev_shape[1], bev_shape[2], bev_shape[3], channels};
  if (in.intervals == 0) return at::zeros(sizes, depth.options());
  at::Tensor out = at::empty(sizes, depth.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, depth.scalar_type(), kOp, [&] {
    const auto* weights = inputs.depth.const_data_ptr<scalar_t>();
    const auto* features = inputs.feat.const_data_ptr<scalar_t>();
    auto* to = out.mutable_data_ptr<scalar_t>();
    // Tasks of as many points each, because intervals differ much in length; an interval belongs to the task
    // in which it starts. The first task starts before all intervals.
    const int32_t* const end = in.starts + in.intervals;
    at::parallel_for(0, in.points, points_per_task(channels), [&](int64_t first, int64_t last) {
      const auto from = std::lower_bound(in.starts, end, first) - in.starts;
      const auto until = std::lower_bound(in.starts, end, last) - in.starts;
      if (from != until) pool_intervals(weights, features, in, from, until, channels, to);
    });
  });
  return out;
}

// A point as the backward visits it, and the product of its feature and the gradient of its voxel.
struct RowPoint {
  int32_t cell;
  int32_t voxel;
};

// The points in intervals, sorted by the row of feat that they read; those of row r are [ends[r - 1],
// ends[r]). Points of one row keep their order.
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

// Adds weight * grad to sum and returns the product of grad and feat, both over the channels. The product is
// summed in kLanes parts, which the compiler keeps in vector registers.
template <typename scalar_t, typename sum_t>
sum_t add_point(const scalar_t* grad, const scalar_t* feat, sum_t weight, int64_t channels,
                sum_t* __restrict sum) {
  constexpr int64_t kLanes = 16;
  sum_t parts[kLanes] = {};
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const auto g = static_cast<sum_t>(grad[c + lane]);
      sum[c + lane] += weight * g;
      parts[lane] += g * static_cast<sum_t>(feat[c + lane]);
    }
  }
  for (int64_t lane = 0; c < channels; ++c, ++lane) {
    const auto g = static_cast<sum_t>(grad[c]);
    sum[c] += weight * g;
    parts[lane] += g * static_cast<sum_t>(feat[c]);
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) parts[lane] += parts[lane + half];
  }
  return parts[0];
}

// Writes the gradients of the rows [first, last) of feat, and products[i] of their points.
template <typename scalar_t, typename sum_t>
void row_gradients(const scalar_t* grad, const scalar_t* depth, const scalar_t* feat,
                   const SortedPoints& sorted, int64_t first, int64_t last, int64_t channels, sum_t* products,
                   scalar_t* grad_feat) {
  std::vector<sum_t> sums(channels);
  for (int64_t row = first; row < last; ++row) {
    std::fill(sums.begin(), sums.end(), sum_t(0));
    for (int64_t i = row == 0 ? 0 : sorted.ends[row - 1]; i < sorted.ends[row]; ++i) {
      const auto& [cell, voxel] = sorted.points[i];
      products[i] = add_point(grad + voxel * channels, feat + row * channels, static_cast<sum_t>(depth[cell]),
                              channels, sums.data());
    }
    std::transform(sums.begin(), sums.end(), grad_feat + row * channels,
                   [](sum_t sum) { return static_cast<scalar_t>(sum); });
  }
}

std::tuple<at::Tensor, at::Tensor> bev_pool_v2_backward_cpu(
    const at::Tensor& grad, const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
    const at::Tensor& ranks_feat, const at::Tensor& ranks_bev, const at::Tensor& interval_starts,
    const at::Tensor& interval_lengths) {
  constexpr const char* kOp = "bev_pool_v2_backward";
  const PoolInputs given{depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths};
  check_pool_backward(kOp, grad, given);
  const PoolInputs inputs = given.contiguous();
  const PoolIndices in = indices_of(kOp, inputs, grad.sizes());
  check_values(kOp, in);

  const int64_t channels = feat.size(4);
  const at::Tensor dense_grad = grad.contiguous();
  const SortedPoints sorted = sort_by_row(in);
  const auto points = static_cast<int64_t>(sorted.points.size());
  at::Tensor grad_feat =
      points == 0 ? at::zeros(feat.sizes(), feat.options()) : at::empty(feat.sizes(), feat.options());
  // Of the sums' dtype, and rounded in the end.
  at::Tensor grad_depth =
      at::zeros(depth.sizes(), depth.options().dtype(at::toOpMathType(depth.scalar_type())));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, depth.scalar_type(), kOp, [&] {
    using sum_t = at::opmath_type<scalar_t>;
    std::vector<sum_t> products(points);
    const auto* gradients = dense_grad.const_data_ptr<scalar_t>();
    const auto* weights = inputs.depth.const_data_ptr<scalar_t>();
    const auto* features = inputs.feat.const_data_ptr<scalar_t>();
    auto* to_feat = grad_feat.mutable_data_ptr<scalar_t>();
    // A row belongs to the task in which its points end; a row without points to that of the point before.
    at::parallel_for(0, points, points_per_task(channels), [&](int64_t first, int64_t last) {
      const auto row_of = [&](int64_t point) {
        return std::upper_bound(sorted.ends.begin(), sorted.ends.end(), point) - sorted.ends.begin();
      };
      row_gradients(gradients, weights, features, sorted, first == 0 ? 0 : row_of(first), row_of(last),
                    channels, products.data(), to_feat);
    });
    auto* to_depth = grad_depth.mutable_data_ptr<sum_t>();
    for (int64_t i = 0; i < points; ++i) to_depth[sorted.points[i].cell] += products[i];
  });
  return {grad_depth.to(depth.scalar_type()), grad_feat};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) {
  m.impl("bev_pool_v2", &opgate_ops::bev_pool_v2_cpu);
  m.impl("bev_pool_v2_backward", &opgate_ops::bev_pool_v2_backward_cpu);
}
