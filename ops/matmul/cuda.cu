// matmul on CUDA, without tensor cores. A block computes a tile of the product from tiles of A and B in
// shared memory, and each thread a smaller tile of it in registers. The next tiles are loaded while the
// current ones are multiplied.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "../common/launch.cuh"
#include "matmul.h"

namespace opgate_ops {
namespace {

/// A matrix with any strides.
template <typename scalar_t>
struct Strided {
  const scalar_t* data;
  int64_t row_stride, column_stride;
};

template <typename scalar_t>
Strided<scalar_t> strided(const at::Tensor& matrix) {
  return {matrix.const_data_ptr<scalar_t>(), matrix.stride(0), matrix.stride(1)};
}

// Sizes of tiles, in elements. A block has (block / mine)^2 = kThreads threads.
template <typename acc_t>
struct Tile {
  static constexpr int mine = sizeof(acc_t) == 4 ? 8 : 4;  // rows and columns of a thread
  static constexpr int block = 16 * mine;                  // rows and columns of a block
  static constexpr int depth = 16;
  static constexpr int loads = block * depth / kThreads;  // of each thread, for each of A and B
};

// One tile [block, depth] that is being copied from a matrix to shared memory, which holds it as
// [depth][block]. Neighbouring threads read neighbours in memory: along the depth if that is the fast
// dimension, otherwise across.
template <typename scalar_t, typename acc_t>
struct Transfer {
  using T = Tile<acc_t>;
  acc_t values[T::loads];

  static __device__ void place(bool along_depth, int i, int& across, int& k) {
    const int n = i * kThreads + static_cast<int>(threadIdx.x);
    across = along_depth ? n / T::depth : n % T::block;
    k = along_depth ? n % T::depth : n / T::block;
  }
  /// `across_stride` and `depth_stride` are those of the matrix; what lies outside it is 0.
  __device__ void read(const scalar_t* data, int64_t across_stride, int64_t depth_stride, int64_t first,
                       int64_t across_size, int64_t first_k, int64_t depth_size) {
#pragma unroll
    for (int i = 0; i < T::loads; ++i) {
      int across, k;
      place(depth_stride == 1, i, across, k);
      const bool inside = first + across < across_size && first_k + k < depth_size;
      values[i] =
          inside ? static_cast<acc_t>(data[(first + across) * across_stride + (first_k + k) * depth_stride])
                 : acc_t(0);
    }
  }
  __device__ void write(acc_t (*shared)[T::block + 4], bool along_depth) const {
#pragma unroll
    for (int i = 0; i < T::loads; ++i) {
      int across, k;
      place(along_depth, i, across, k);
      shared[k][across] = values[i];
    }
  }
};

// Computes c = a b, where c [rows, columns] is contiguous. Blocks loop over the tiles of c, so that any
// number of blocks works.
template <typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads)
    multiply(const Strided<scalar_t> a, const Strided<scalar_t> b, int64_t rows, int64_t depth,
             int64_t columns, scalar_t* __restrict__ c) {
  using T = Tile<acc_t>;
  // Each row has 4 more elements, because otherwise all writes along the depth would go to one bank.
  __shared__ __align__(16) acc_t left[2][T::depth][T::block + 4], right[2][T::depth][T::block + 4];
  const int row = static_cast<int>(threadIdx.x) / 16 * (T::mine / 2),
            column = static_cast<int>(threadIdx.x) % 16 * (T::mine / 2);
  const int64_t row_tiles = (rows + T::block - 1) / T::block,
                column_tiles = (columns + T::block - 1) / T::block;
  for (int64_t tile = blockIdx.x; tile < row_tiles * column_tiles; tile += gridDim.x) {
    const int64_t m0 = tile / column_tiles * T::block, n0 = tile % column_tiles * T::block;
    Transfer<scalar_t, acc_t> from_a, from_b;
    const auto read = [&](int64_t k) {
      from_a.read(a.data, a.row_stride, a.column_stride, m0, rows, k, depth);
      from_b.read(b.data, b.column_stride, b.row_stride, n0, columns, k, depth);
    };
    const auto write = [&](int buffer) {
      from_a.write(left[buffer], a.column_stride == 1);
      from_b.write(right[buffer], b.row_stride == 1);
    };
    acc_t sums[T::mine][T::mine] = {};
    read(0);
    write(0);
    __syncthreads();
    int buffer = 0;
    for (int64_t k0 = 0; k0 < depth; k0 += T::depth, buffer ^= 1) {
      const bool more = k0 + T::depth < depth;
      if (more) read(k0 + T::depth);
#pragma unroll
      for (int k = 0; k < T::depth; ++k) {
        // A thread's rows and columns lie in two halves of the block's, so that the threads of a warp read
        // whole rows of banks.
        acc_t x[T::mine], y[T::mine];
#pragma unroll
        for (int i = 0; i < T::mine; ++i) {
          const int half = i / (T::mine / 2) * (T::block / 2) + i % (T::mine / 2);
          x[i] = left[buffer][k][row + half];
          y[i] = right[buffer][k][column + half];
        }
#pragma unroll
        for (int i = 0; i < T::mine; ++i)
#pragma unroll
          for (int j = 0; j < T::mine; ++j) sums[i][j] += x[i] * y[j];
      }
      if (more) write(buffer ^ 1);
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < T::mine; ++i) {
      const int64_t m = m0 + row + i / (T::mine / 2) * (T::block / 2) + i % (T::mine / 2);
#pragma unroll
      for (int j = 0; j < T::mine; ++j) {
        const int64_t n = n0 + column + j / (T::mine / 2) * (T::block / 2) + j % (T::mine / 2);
        if (m < rows && n < columns) c[m * columns + n] = static_cast<scalar_t>(sums[i][j]);
      }
    }
  }
}

at::Tensor matmul_cuda(const at::Tensor& a, const at::Tensor& b) {
  check_matmul(a, b);
  const c10::cuda::CUDAGuard device_guard(a.device());
  if (a.numel() == 0 || b.numel() == 0) return at::zeros({a.size(0), b.size(1)}, a.options());
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "matmul", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    constexpr int64_t block = Tile<acc_t>::block;
    const int64_t tiles = (out.size(0) + block - 1) / block * ((out.size(1) + block - 1) / block);
    multiply<scalar_t, acc_t><<<static_cast<int>(std::min<int64_t>(tiles, 1 << 20)), kThreads, 0, stream>>>(
        strided<scalar_t>(a), strided<scalar_t>(b), out.size(0), a.size(1), out.size(1),
        out.mutable_data_ptr<scalar_t>());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) { m.impl("matmul", &opgate_ops::matmul_cuda); }
