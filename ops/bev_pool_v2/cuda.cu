// bev_pool_v2 and its backward on CUDA. There are no atomics: one thread or warp makes each sum in one
// order, so that results have the same bits in every call. Nothing waits for the device unless
// OPGATE_OPS_CHECK_VALUES is set (see arguments.h), and the sizes of launches depend only on sizes of
// tensors, so that a CUDA graph can capture it all.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/env.h>
#include <torch/library.h>

#include <array>
#include <cstdint>
#include <tuple>

#include "../common/launch.cuh"
#include "arguments.h"

namespace opgate_ops {
namespace {

constexpr int kInFlight = 8;  // points whose loads are started before the first of them is added

// Neighbouring channels that are loaded and stored at once.
template <typename scalar_t, int width>
struct alignas(sizeof(scalar_t) * width) Channels {
  scalar_t values[width];
};

template <typename scalar_t, int width>
__device__ Channels<scalar_t, width> load(const scalar_t* at) {
  return *reinterpret_cast<const Channels<scalar_t, width>*>(at);
}

// The points of an interval; empty if the interval or its voxel is out of range.
struct Interval {
  int64_t start;
  int64_t end;
  int64_t voxel;
};

__device__ Interval interval_at(const PoolIndices& in, int64_t i) {
  const int64_t start = in.starts[i];
  const int64_t end = start + in.lengths[i];
  if (start < 0 || end <= start || end > in.points) return {0, 0, -1};
  const int64_t voxel = in.ranks_bev[start];
  if (voxel < 0 || voxel >= in.voxels) return {0, 0, -1};
  return {start, end, voxel};
}

__device__ bool in_range(int64_t rank, int64_t size) { return rank >= 0 && rank < size; }

// A thread computes `width` channels of one voxel. Neighbouring threads read and write neighbouring
// channels, and one load brings the ranks and the depth of a point to all of them.
template <typename scalar_t, int width>
__global__ void __launch_bounds__(kThreads)
    pool_intervals(const scalar_t* __restrict__ depth, const scalar_t* __restrict__ feat,
                   const __grid_constant__ PoolIndices in, int64_t channels, scalar_t* __restrict__ out) {
  using sum_t = at::opmath_type<scalar_t>;
  const int64_t packs = channels / width;
  for (int64_t item = first_index(); item < in.intervals * packs; item += index_step()) {
    const int64_t i = item / packs;
    const int64_t channel = (item - i * packs) * width;
    const Interval interval = interval_at(in, i);
    if (interval.voxel < 0) continue;

    sum_t sums[width] = {};
    for (int64_t first = interval.start; first < interval.end; first += kInFlight) {
      sum_t weights[kInFlight];
      Channels<scalar_t, width> features[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const int64_t p = first + k;
        weights[k] = 0;
        features[k] = {};
        if (p >= interval.end) continue;
        const int64_t cell = in.ranks_depth[p];
        const int64_t row = in.ranks_feat[p];
        if (!in_range(cell, in.cells) || !in_range(row, in.rows)) continue;
        weights[k] = static_cast<sum_t>(depth[cell]);
        features[k] = load<scalar_t, width>(feat + row * channels + channel);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
#pragma unroll
        for (int c = 0; c < width; ++c) sums[c] += weights[k] * static_cast<sum_t>(features[k].values[c]);
      }
    }
    Channels<scalar_t, width> result;
#pragma unroll
    for (int c = 0; c < width; ++c) result.values[c] = static_cast<scalar_t>(sums[c]);
    *reinterpret_cast<Channels<scalar_t, width>*>(out + interval.voxel * channels + channel) = result;
  }
}

// Writes the voxel of each point, or -1 for a point outside every interval. Bisection finds the last
// interval that starts at or before the point.
__global__ void __launch_bounds__(kThreads)
    find_voxels(const __grid_constant__ PoolIndices in, int64_t* __restrict__ voxels) {
  for (int64_t p = first_index(); p < in.points; p += index_step()) {
    int64_t before = 0;  // intervals [0, before) start at or before p, those from `after` on behind it
    int64_t after = in.intervals;
    while (before < after) {
      const int64_t middle = before + (after - before) / 2;
      if (in.starts[middle] <= p) {
        before = middle + 1;
      } else {
        after = middle;
      }
    }
    voxels[p] = -1;
    if (before == 0) continue;
    const Interval interval = interval_at(in, before - 1);
    if (interval.start <= p && p < interval.end) voxels[p] = interval.voxel;
  }
}

// Writes where each rank begins and ends in `ranks`, which ascend. Entries for ranks that do not occur stay
// zero; ranks out of range are left out.
__global__ void __launch_bounds__(kThreads)
    find_groups(const int32_t* __restrict__ ranks, int64_t points, int64_t size, int64_t* __restrict__ begins,
                int64_t* __restrict__ ends) {
  for (int64_t i = first_index(); i < points; i += index_step()) {
    const int64_t rank = ranks[i];
    if (!in_range(rank, size)) continue;
    if (i == 0 || ranks[i - 1] != rank) begins[rank] = i;
    if (i + 1 == points || ranks[i + 1] != rank) ends[rank] = i + 1;
  }
}

// The points sorted by rank. Those of rank r are order[begins[r]] ... order[ends[r] - 1] and keep their
// order. The tensors own the memory.
struct Groups {
  at::Tensor order_tensor;
  at::Tensor bounds_tensor;
  const int64_t* order;
  const int64_t* begins;
  const int64_t* ends;
};

Groups group(const at::Tensor& ranks, int64_t size, cudaStream_t stream) {
  const auto [sorted, order] = at::sort(ranks, /*stable=*/true, /*dim=*/0, /*descending=*/false);
  const at::Tensor bounds = at::zeros({2, size}, order.options());
  auto* const begins = bounds.mutable_data_ptr<int64_t>();
  find_groups<<<blocks_for(ranks.numel()), kThreads, 0, stream>>>(sorted.const_data_ptr<int32_t>(),
                                                                  ranks.numel(), size, begins, begins + size);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {order, bounds, order.const_data_ptr<int64_t>(), begins, begins + size};
}

// The groups as pointers, which a kernel takes by value.
struct GroupView {
  const int64_t* order;
  const int64_t* begins;
  const int64_t* ends;
};

GroupView view(const Groups& groups) { return {groups.order, groups.begins, groups.ends}; }

template <typename sum_t>
__device__ sum_t sum_of_warp(sum_t value) {
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  return value;
}

// A warp computes the gradient of one row of feat; each lane takes `width` channels at a time until all are
// done. The warp also writes, for each point, the product of the row and the gradient of the point's voxel.
// Every point belongs to one row, so that no other warp writes it.
template <typename scalar_t, int width>
__global__ void __launch_bounds__(kThreads)
    row_gradients(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ depth,
                  const scalar_t* __restrict__ feat, const __grid_constant__ PoolIndices in,
                  const int64_t* __restrict__ voxels, const __grid_constant__ GroupView groups,
                  int64_t channels, at::opmath_type<scalar_t>* products, scalar_t* __restrict__ grad_feat) {
  using sum_t = at::opmath_type<scalar_t>;
  const int lane = threadIdx.x % kWarp;
  for (int64_t row = first_index() / kWarp; row < in.rows; row += index_step() / kWarp) {
    const int64_t begin = groups.begins[row];
    const int64_t end = groups.ends[row];
    for (int64_t base = 0; base < channels; base += kWarp * width) {  // the same trip count for all lanes
      const int64_t channel = base + lane * width;
      const bool has_channels = channel < channels;
      Channels<scalar_t, width> feature = {};
      if (has_channels) feature = load<scalar_t, width>(feat + row * channels + channel);
      sum_t sums[width] = {};
      for (int64_t first = begin; first < end; first += kInFlight) {
        sum_t weights[kInFlight];
        Channels<scalar_t, width> gradients[kInFlight];
        bool counts[kInFlight];
#pragma unroll
        for (int k = 0; k < kInFlight; ++k) {
          weights[k] = 0;
          gradients[k] = {};
          counts[k] = false;
          if (first + k >= end) continue;
          const int64_t p = groups.order[first + k];
          const int64_t cell = in.ranks_depth[p];
          if (voxels[p] < 0 || !in_range(cell, in.cells)) continue;
          counts[k] = true;
          weights[k] = static_cast<sum_t>(depth[cell]);
          if (has_channels) gradients[k] = load<scalar_t, width>(grad + voxels[p] * channels + channel);
        }
#pragma unroll
        for (int k = 0; k < kInFlight; ++k) {
          sum_t product = 0;
#pragma unroll
          for (int c = 0; c < width; ++c) {
            const auto g = static_cast<sum_t>(gradients[k].values[c]);
            sums[c] += weights[k] * g;
            product += g * static_cast<sum_t>(feature.values[c]);
          }
          product = sum_of_warp(product);
          // The product of a point that does not count is 0, and NaN where the row has a NaN.
          if (lane == 0 && counts[k]) products[groups.order[first + k]] += product;
        }
      }
      if (!has_channels) continue;
      Channels<scalar_t, width> result;
#pragma unroll
      for (int c = 0; c < width; ++c) result.values[c] = static_cast<scalar_t>(sums[c]);
      *reinterpret_cast<Channels<scalar_t, width>*>(grad_feat + row * channels + channel) = result;
    }
  }
}

// Sums the products of the points of each depth cell, which rarely has more than one point.
template <typename scalar_t>
__global__ void __launch_bounds__(kThreads)
    cell_gradients(const at::opmath_type<scalar_t>* __restrict__ products,
                   const __grid_constant__ GroupView groups, int64_t cells,
                   scalar_t* __restrict__ grad_depth) {
  for (int64_t cell = first_index(); cell < cells; cell += index_step()) {
    at::opmath_type<scalar_t> sum = 0;
    for (int64_t i = groups.begins[cell]; i < groups.ends[cell]; ++i) sum += products[groups.order[i]];
    grad_depth[cell] = static_cast<scalar_t>(sum);
  }
}

void check_values_if_asked(const char* op, const PoolInputs& inputs, const PoolIndices& indices) {
  if (!c10::utils::check_env("OPGATE_OPS_CHECK_VALUES").value_or(false)) return;
  if (c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None) return;
  const std::array<at::Tensor, 5> host{inputs.ranks_depth.cpu(), inputs.ranks_feat.cpu(),
                                       inputs.ranks_bev.cpu(), inputs.interval_starts.cpu(),
                                       inputs.interval_lengths.cpu()};
  PoolIndices on_host = indices;
  on_host.ranks_depth = host[0].const_data_ptr<int32_t>();
  on_host.ranks_feat = host[1].const_data_ptr<int32_t>();
  on_host.ranks_bev = host[2].const_data_ptr<int32_t>();
  on_host.starts = host[3].const_data_ptr<int32_t>();
  on_host.lengths = host[4].const_data_ptr<int32_t>();
  check_values(op, on_host);
}

// The number of channels that a thread handles at once: 16 bytes, or 8 bytes for half types, for which 16
// would leave too few threads. It is one if the rows are not aligned to that.
template <typename scalar_t>
constexpr int kWidth = sizeof(scalar_t) == 8 ? 2 : 4;

template <typename scalar_t>
bool can_pack(int64_t channels, std::initializer_list<const void*> rows) {
  for (const void* row : rows) {
    if (reinterpret_cast<uintptr_t>(row) % (sizeof(scalar_t) * kWidth<scalar_t>) != 0) return false;
  }
  return channels % kWidth<scalar_t> == 0;
}

at::Tensor bev_pool_v2_cuda(const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
                            const at::Tensor& ranks_feat, const at::Tensor& ranks_bev,
                            const at::Tensor& interval_starts, const at::Tensor& interval_lengths,
                            at::IntArrayRef bev_shape) {
  constexpr const char* kOp = "bev_pool_v2";
  const PoolInputs given{depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths};
  check_pool(kOp, given, c10::fromIntArrayRefSlow(bev_shape));
  const c10::cuda::CUDAGuard device_guard(depth.device());
  const PoolInputs inputs = given.contiguous();
  const PoolIndices in = indices_of(kOp, inputs, bev_shape);
  check_values_if_asked(kOp, inputs, in);

  const int64_t channels = feat.size(4);
  const std::array<int64_t, 5> sizes{bev_shape[0], bev_shape[1], bev_shape[2], bev_shape[3], channels};
  at::Tensor out = at::zeros(sizes, depth.options());
  if (in.intervals == 0 || out.numel() == 0) return out;
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, depth.scalar_type(), kOp, [&] {
    const auto* weights = inputs.depth.const_data_ptr<scalar_t>();
    const auto* features = inputs.feat.const_data_ptr<scalar_t>();
    auto* to = out.mutable_data_ptr<scalar_t>();
    const auto launch = [&]<int width>(std::integral_constant<int, width>) {
      pool_intervals<scalar_t, width><<<blocks_for(in.intervals * (channels / width)), kThreads, 0, stream>>>(
          weights, features, in, channels, to);
    };
    if (can_pack<scalar_t>(channels, {features, to})) {
      launch(std::integral_constant<int, kWidth<scalar_t>>());
    } else {
      launch(std::integral_constant<int, 1>());
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor> bev_pool_v2_backward_cuda(
    const at::Tensor& grad, const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
    const at::Tensor& ranks_feat, const at::Tensor& ranks_bev, const at::Tensor& interval_starts,
    const at::Tensor& interval_lengths) {
  constexpr const char* kOp = "bev_pool_v2_backward";
  const PoolInputs given{depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths};
  check_pool_backward(kOp, grad, given);
  const c10::cuda::CUDAGuard device_guard(depth.device());
  const PoolInputs inputs = given.contiguous();
  const PoolIndices in = indices_of(kOp, inputs, grad.sizes());
  check_values_if_asked(kOp, inputs, in);

  const int64_t channels = feat.size(4);
  at::Tensor grad_depth = at::zeros(depth.sizes(), depth.options());
  at::Tensor grad_feat = at::zeros(feat.sizes(), feat.options());
  if (in.intervals == 0 || in.points == 0 || grad.numel() == 0 || in.rows == 0)
    return {grad_depth, grad_feat};
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const at::Tensor dense_grad = grad.contiguous();
  const at::Tensor voxels = at::empty({in.points}, depth.options().dtype(at::kLong));
  find_voxels<<<blocks_for(in.points), kThreads, 0, stream>>>(in, voxels.mutable_data_ptr<int64_t>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  const Groups by_row = group(inputs.ranks_feat, in.rows, stream);
  const Groups by_cell = group(inputs.ranks_depth, in.cells, stream);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, depth.scalar_type(), kOp, [&] {
    using sum_t = at::opmath_type<scalar_t>;
    const at::Tensor products =
        at::zeros({in.points}, depth.options().dtype(at::toOpMathType(depth.scalar_type())));
    const auto* gradients = dense_grad.const_data_ptr<scalar_t>();
    const auto* weights = inputs.depth.const_data_ptr<scalar_t>();
    const auto* features = inputs.feat.const_data_ptr<scalar_t>();
    auto* to_feat = grad_feat.mutable_data_ptr<scalar_t>();
    const auto launch = [&]<int width>(std::integral_constant<int, width>) {
      row_gradients<scalar_t, width><<<blocks_for(in.rows * kWarp), kThreads, 0, stream>>>(
          gradients, weights, features, in, voxels.const_data_ptr<int64_t>(), view(by_row), channels,
          products.mutable_data_ptr<sum_t>(), to_feat);
    };
    if (can_pack<scalar_t>(channels, {gradients, features, to_feat})) {
      launch(std::integral_constant<int, kWidth<scalar_t>>());
    } else {
      launch(std::integral_constant<int, 1>());
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    cell_gradients<scalar_t><<<blocks_for(in.cells), kThreads, 0, stream>>>(
        products.const_data_ptr<sum_t>(), view(by_cell), in.cells, grad_depth.mutable_data_ptr<scalar_t>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return {grad_depth, grad_feat};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) {
  m.impl("bev_pool_v2", &opgate_ops::bev_pool_v2_cuda);
  m.impl("bev_pool_v2_backward", &opgate_ops::bev_pool_v2_backward_cuda);
}
