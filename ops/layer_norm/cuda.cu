// layer_norm and its derivative on CUDA.
//
// A team of threads handles a row: a warp if rows are short, a block if they are long. The row is read from
// memory once and kept in shared memory if it fits. Sums over rows are made in two steps of fixed order,
// without atomics.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <limits>

#include "../common/launch.cuh"
#include "../common/product.h"
#include "layer_norm.h"

namespace opgate_ops {
namespace {

constexpr int kWarps = kThreads / kWarp;  // of a block
// Rows of up to this many elements are handled by a warp.
constexpr int64_t kShortRow = 1024;
// The shared memory of a block, which keeps its rows there, beside the partial sums: two blocks fit on a
// multiprocessor even beside a large L1 cache.
constexpr int64_t kSharedBytes = 48 * 1024;
template <typename acc_t>
constexpr int64_t kBytesForRows = kSharedBytes - kWarps* static_cast<int64_t>(sizeof(acc_t));

template <int team, typename T>
__device__ T team_sum(T value, T* partial) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  if constexpr (team == kWarp) return value;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  __syncthreads();  // waits until all threads have read the previous sum
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < kWarps; ++i) sum += partial[i];
  return sum;
}

/// One row as its team reads it: from shared memory if it was kept there, otherwise from the tensor again.
template <int team, bool kept, typename scalar_t, typename acc_t>
struct Row {
  const scalar_t* data;
  acc_t* shared;
  int64_t columns;
  int rank;  // of this thread in its team; it only ever touches its own elements of `shared`

  __device__ acc_t operator[](int64_t c) const {
    if constexpr (kept) return shared[c];
    return static_cast<acc_t>(data[c]);
  }
  __device__ void load() const {
    if constexpr (kept)
      for (int64_t c = rank; c < columns; c += team) shared[c] = static_cast<acc_t>(data[c]);
  }
  template <class Term>
  __device__ acc_t sum(acc_t* partial, const Term& term) const {
    acc_t mine = 0;
    for (int64_t c = rank; c < columns; c += team) mine += term(c);
    return team_sum<team>(mine, partial);
  }
};

template <typename acc_t>
struct Statistics {
  acc_t mean, rstd;
};

// The variance takes a second pass, because the mean of squares minus the square of the mean would cancel.
template <class Row, typename acc_t>
__device__ Statistics<acc_t> statistics(const Row& row, acc_t* partial, acc_t eps) {
  const acc_t mean = row.sum(partial, [&](int64_t c) { return row[c]; }) / static_cast<acc_t>(row.columns);
  const acc_t squares = row.sum(partial, [&](int64_t c) { return (row[c] - mean) * (row[c] - mean); });
  return {mean, rsqrt(squares / static_cast<acc_t>(row.columns) + eps)};
}

template <typename acc_t>
__device__ acc_t* shared_memory() {
  extern __shared__ __align__(16) unsigned char memory[];
  return reinterpret_cast<acc_t*>(memory);
}

template <int team, bool kept, typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads)
    forward_rows(int64_t rows, int64_t columns, acc_t eps, const scalar_t* __restrict__ input,
                 const scalar_t* __restrict__ weight, const scalar_t* __restrict__ bias,
                 scalar_t* __restrict__ out, acc_t* __restrict__ means, acc_t* __restrict__ rstds) {
  __shared__ acc_t partial[kWarps];
  constexpr int teams = kThreads / team;
  const int rank = threadIdx.x % team, number = threadIdx.x / team;
  for (int64_t r = int64_t{blockIdx.x} * teams + number; r < rows; r += int64_t{gridDim.x} * teams) {
    const Row<team, kept, scalar_t, acc_t> row{input + r * columns, shared_memory<acc_t>() + number * columns,
                                               columns, rank};
    row.load();
    const auto [mean, rstd] = statistics(row, partial, eps);
    for (int64_t c = rank; c < columns; c += team) {
      const acc_t scaled = (row[c] - mean) * rstd * static_cast<acc_t>(weight[c]);
      out[r * columns + c] = static_cast<scalar_t>(scaled + static_cast<acc_t>(bias[c]));
    }
    if (rank == 0) {
      means[r] = mean;
      rstds[r] = rstd;
    }
  }
}

// Computes d input = rstd (h - mean(h) - y mean(h y)) with y = (x - mean) rstd and h = grad * weight.
template <int team, bool kept, typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads)
    backward_rows(int64_t rows, int64_t columns, const scalar_t* __restrict__ grad,
                  const scalar_t* __restrict__ input, const acc_t* __restrict__ means,
                  const acc_t* __restrict__ rstds, const scalar_t* __restrict__ weight,
                  scalar_t* __restrict__ d_input) {
  __shared__ acc_t partial[kWarps];
  constexpr int teams = kThreads / team;
  const int rank = threadIdx.x % team, number = threadIdx.x / team;
  for (int64_t r = int64_t{blockIdx.x} * teams + number; r < rows; r += int64_t{gridDim.x} * teams) {
    acc_t* mine = shared_memory<acc_t>() + number * 2 * columns;
    const Row<team, kept, scalar_t, acc_t> row{input + r * columns, mine, columns, rank};
    const Row<team, kept, scalar_t, acc_t> g{grad + r * columns, mine + columns, columns, rank};
    row.load();
    g.load();
    const acc_t mean = means[r], rstd = rstds[r];
    // Rounded once, here and in the mean: a product that is fused with the difference from the mean does not
    // cancel in a row of equal numbers.
    const auto h = [&](int64_t c) { return rounded_product(g[c], static_cast<acc_t>(weight[c])); };
    const auto y = [&](int64_t c) { return (row[c] - mean) * rstd; };
    const acc_t mean_h = row.sum(partial, h) / static_cast<acc_t>(columns);
    const acc_t mean_hy =
        row.sum(partial, [&](int64_t c) { return h(c) * y(c); }) / static_cast<acc_t>(columns);
    for (int64_t c = rank; c < columns; c += team)
      d_input[r * columns + c] = static_cast<scalar_t>(rstd * (h(c) - mean_h - y(c) * mean_hy));
  }
}

// Sums grad y and grad over the rows of a chunk; each block takes 32 neighbouring columns. Chunk k of
// gridDim.y writes row k of the partial sums.
template <typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads)
    sum_chunks(int64_t rows, int64_t columns, const scalar_t* __restrict__ grad,
               const scalar_t* __restrict__ input, const acc_t* __restrict__ means,
               const acc_t* __restrict__ rstds, acc_t* __restrict__ to_weight, acc_t* __restrict__ to_bias) {
  __shared__ acc_t weights[kWarps][kWarp], biases[kWarps][kWarp];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t chunk_rows = (rows + gridDim.y - 1) / gridDim.y;
  const int64_t begin = blockIdx.y * chunk_rows, end = min(begin + chunk_rows, rows);
  for (int64_t first = int64_t{blockIdx.x} * kWarp; first < columns; first += int64_t{gridDim.x} * kWarp) {
    const int64_t c = first + lane;
    acc_t weight = 0, bias = 0;
    if (c < columns) {
      for (int64_t r = begin + warp; r < end; r += kWarps) {
        const acc_t g = static_cast<acc_t>(grad[r * columns + c]);
        weight += g * ((static_cast<acc_t>(input[r * columns + c]) - means[r]) * rstds[r]);
        bias += g;
      }
    }
    weights[warp][lane] = weight;
    biases[warp][lane] = bias;
    __syncthreads();
    if (warp == 0 && c < columns) {
      for (int i = 1; i < kWarps; ++i) {
        weight += weights[i][lane];
        bias += biases[i][lane];
      }
      to_weight[blockIdx.y * columns + c] = weight;
      to_bias[blockIdx.y * columns + c] = bias;
    }
    __syncthreads();
  }
}

template <typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads)
    add_chunks(int chunks, int64_t columns, const acc_t* __restrict__ to_weight,
               const acc_t* __restrict__ to_bias, scalar_t* __restrict__ d_weight,
               scalar_t* __restrict__ d_bias) {
  for (int64_t c = first_index(); c < columns; c += index_step()) {
    acc_t weight = 0, bias = 0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      weight += to_weight[chunk * columns + c];
      bias += to_bias[chunk * columns + c];
    }
    d_weight[c] = static_cast<scalar_t>(weight);
    d_bias[c] = static_cast<scalar_t>(bias);
  }
}

/// Calls launch.template operator()<team, kept>(blocks, shared bytes), for teams that keep `kept_rows` rows
/// in shared memory.
template <typename acc_t, class Launch>
void launch_rows(int64_t rows, int64_t columns, int kept_rows, const Launch& launch) {
  const int64_t bytes = kept_rows * columns * static_cast<int64_t>(sizeof(acc_t));
  const auto blocks = [&](int64_t teams) {
    return static_cast<int>(std::min((rows + teams - 1) / teams, kMaxBlocks));
  };
  if (columns <= kShortRow && bytes * kWarps <= kBytesForRows<acc_t>) {
    launch.template operator()<kWarp, true>(blocks(kWarps), static_cast<size_t>(bytes * kWarps));
  } else if (bytes <= kBytesForRows<acc_t>) {
    launch.template operator()<kThreads, true>(blocks(1), static_cast<size_t>(bytes));
  } else {
    launch.template operator()<kThreads, false>(blocks(1), size_t{0});
  }
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_with_statistics_cuda(const at::Tensor& input,
                                                                               const at::Tensor& weight,
                                                                               const at::Tensor& bias,
                                                                               double eps) {
  check_layer_norm(input, weight, bias, eps);
  const c10::cuda::CUDAGuard device_guard(input.device());
  auto results = empty_with_statistics(input);
  auto& [out, mean, rstd] = results;
  const int64_t columns = input.size(-1), rows = mean.numel();
  if (columns == 0) {  // there may be rows all the same, and the mean of no numbers is none
    mean.fill_(std::numeric_limits<double>::quiet_NaN());
    rstd.fill_(std::numeric_limits<double>::quiet_NaN());
  }
  if (input.numel() == 0) return results;
  const at::Tensor x = input.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "layer_norm", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    launch_rows<acc_t>(rows, columns, 1, [&]<int team, bool kept>(int blocks, size_t shared) {
      forward_rows<team, kept><<<blocks, kThreads, shared, stream>>>(
          rows, columns, static_cast<acc_t>(eps), x.const_data_ptr<scalar_t>(), w.const_data_ptr<scalar_t>(),
          b.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), mean.mutable_data_ptr<acc_t>(),
          rstd.mutable_data_ptr<acc_t>());
    });
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return results;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_cuda(const at::Tensor& grad,
                                                                        const at::Tensor& input,
                                                                        const at::Tensor& mean,
                                                                        const at::Tensor& rstd,
                                                                        const at::Tensor& weight) {
  check_layer_norm_backward(grad, input, mean, rstd, weight);
  const c10::cuda::CUDAGuard device_guard(input.device());
  auto results = empty_gradients(input, weight);
  auto& [d_input, d_weight, d_bias] = results;
  if (input.numel() == 0) {
    d_weight.zero_();
    d_bias.zero_();
    return results;
  }
  const int64_t columns = input.size(-1), rows = mean.numel();
  const at::ScalarType acc = statistics_dtype(input.scalar_type());
  const at::Tensor x = input.contiguous(), g = grad.contiguous(), w = weight.contiguous(),
                   means = mean.to(acc).contiguous(), rstds = rstd.to(acc).contiguous();
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();

  // A chunk has at least 64 rows, and there are at most 128 chunks. Their number depends only on the shape.
  const int chunks = static_cast<int>(std::clamp<int64_t>(rows / 64, 1, 128));
  const at::Tensor to_weight = at::empty({chunks, columns}, means.options()),
                   to_bias = at::empty({chunks, columns}, means.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "layer_norm_backward", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    launch_rows<acc_t>(rows, columns, 2, [&]<int team, bool kept>(int blocks, size_t shared) {
      backward_rows<team, kept><<<blocks, kThreads, shared, stream>>>(
          rows, columns, g.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(),
          means.const_data_ptr<acc_t>(), rstds.const_data_ptr<acc_t>(), w.const_data_ptr<scalar_t>(),
          d_input.mutable_data_ptr<scalar_t>());
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    const dim3 grid(static_cast<unsigned>(std::min<int64_t>((columns + kWarp - 1) / kWarp, kMaxBlocks)),
                    chunks);
    sum_chunks<<<grid, kThreads, 0, stream>>>(
        rows, columns, g.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(),
        means.const_data_ptr<acc_t>(), rstds.const_data_ptr<acc_t>(), to_weight.mutable_data_ptr<acc_t>(),
        to_bias.mutable_data_ptr<acc_t>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    add_chunks<<<blocks_for(columns), kThreads, 0, stream>>>(
        chunks, columns, to_weight.const_data_ptr<acc_t>(), to_bias.const_data_ptr<acc_t>(),
        d_weight.mutable_data_ptr<scalar_t>(), d_bias.mutable_data_ptr<scalar_t>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return results;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) {
  m.impl("layer_norm_with_statistics", &opgate_ops::layer_norm_with_statistics_cuda);
  m.impl("layer_norm_backward", &opgate_ops::layer_norm_backward_cuda);
}
