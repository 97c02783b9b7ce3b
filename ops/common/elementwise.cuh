// Elementwise kernels on CUDA: they apply a function of one element to tensors of any strides.
#pragma once

#include <ATen/OpMathType.h>
#include <ATen/TensorIterator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <utility>

#include "launch.cuh"

namespace opgate_ops {

inline constexpr int kMaxDims = 64;  // as many as PyTorch's tensors can have

/// Computes the offset of element i of operand j from the strides that TensorIterator found, in elements,
/// the fastest dimension first. A plain struct, which a kernel takes by value: nothing is copied to the
/// device, and a CUDA graph can capture the launch.
template <typename index_t, int operands>
struct LoopNest {
  int dims;
  index_t sizes[kMaxDims];
  index_t strides[kMaxDims][operands];

  __device__ void offsets(index_t i, index_t (&offset)[operands]) const {
    for (int dim = 0; dim < dims; ++dim) {
      // The last dimension needs no division.
      const index_t next = dim + 1 < dims ? i / sizes[dim] : 0;
      const index_t index = i - next * sizes[dim];
      for (int j = 0; j < operands; ++j) offset[j] += index * strides[dim][j];
      i = next;
    }
  }
};

/// The elements that one load of 16 bytes brings.
template <typename scalar_t>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(scalar_t);
  scalar_t values[size];
};

/// The kernel for dense tensors of `count` elements, each aligned to 16 bytes. Elements after the last full
/// pack are done one by one.
template <typename scalar_t, class Function, class... In>
__global__ void __launch_bounds__(kThreads)
    map_packs(Function function, int64_t count, scalar_t* __restrict__ out, const In* __restrict__... in) {
  using opmath_t = at::opmath_type<scalar_t>;
  using pack_t = Pack<scalar_t>;
  const int64_t packs = count / pack_t::size;
  const auto one = [&](const auto... value) {
    return static_cast<scalar_t>(function(static_cast<opmath_t>(value)...));
  };
  const auto pack = [&](int64_t i, const auto... packed) {
    pack_t result;
#pragma unroll
    for (int k = 0; k < pack_t::size; ++k) result.values[k] = one(packed.values[k]...);
    reinterpret_cast<pack_t*>(out)[i] = result;
  };
  for (int64_t i = first_index(); i < packs; i += index_step())
    pack(i, reinterpret_cast<const pack_t*>(in)[i]...);
  const int64_t last = packs * pack_t::size + first_index();
  if (last < count) out[last] = one(in[last]...);
}

/// The kernel for any strides. Neighbouring threads write neighbouring elements, because TensorIterator's
/// fastest dimension is that of `out`.
template <typename scalar_t, typename index_t, class Function, size_t... j>
__global__ void __launch_bounds__(kThreads)
    map_strided(Function function, int64_t count, scalar_t* out,
                const __grid_constant__ LoopNest<index_t, sizeof...(j) + 1> nest, std::index_sequence<j...>,
                decltype(j, static_cast<const scalar_t*>(nullptr))... in) {
  using opmath_t = at::opmath_type<scalar_t>;
  for (int64_t i = first_index(); i < count; i += index_step()) {
    index_t offset[sizeof...(j) + 1] = {};
    nest.offsets(static_cast<index_t>(i), offset);
    out[offset[0]] = static_cast<scalar_t>(function(static_cast<opmath_t>(in[offset[j + 1]])...));
  }
}

template <typename index_t, int operands, typename scalar_t>
LoopNest<index_t, operands> loop_nest(const at::TensorIterator& iterator) {
  LoopNest<index_t, operands> nest;
  nest.dims = iterator.ndim();
  for (int dim = 0; dim < nest.dims; ++dim) {
    nest.sizes[dim] = static_cast<index_t>(iterator.shape()[dim]);
    for (int j = 0; j < operands; ++j)
      nest.strides[dim][j] =
          static_cast<index_t>(iterator.strides(j)[dim] / static_cast<int64_t>(sizeof(scalar_t)));
  }
  return nest;
}

/// out = function(inputs...), element by element, on the current stream of the current device. All are of
/// dtype scalar_t and broadcast to out's sizes; out has elements, is not resized, and overlaps no input.
template <typename scalar_t, class Function, class... Inputs>
void elementwise_cuda(at::Tensor& out, const Function& function, const Inputs&... inputs) {
  at::TensorIteratorConfig config;
  config.add_output(out).resize_outputs(false).set_check_mem_overlap(false);
  (config.add_const_input(inputs), ...);
  const at::TensorIterator iterator = config.build();
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  constexpr int operands = sizeof...(Inputs) + 1;
  const int64_t count = iterator.numel();
  bool packed = iterator.is_contiguous();
  for (int j = 0; j < operands; ++j)
    packed &= reinterpret_cast<uintptr_t>(iterator.data_ptr(j)) % sizeof(Pack<scalar_t>) == 0;

  auto* to = static_cast<scalar_t*>(iterator.data_ptr(0));
  [&]<size_t... j>(std::index_sequence<j...> each) {
    const auto launch_strided = [&]<typename index_t>(index_t) {
      map_strided<scalar_t, index_t><<<blocks_for(count), kThreads, 0, stream>>>(
          function, count, to, loop_nest<index_t, operands, scalar_t>(iterator), each,
          static_cast<const scalar_t*>(iterator.data_ptr(j + 1))...);
    };
    if (packed) {
      map_packs<<<blocks_for(count / Pack<scalar_t>::size), kThreads, 0, stream>>>(
          function, count, to, static_cast<const scalar_t*>(iterator.data_ptr(j + 1))...);
    } else if (iterator.can_use_32bit_indexing()) {
      launch_strided(int32_t{});
    } else {
      launch_strided(int64_t{});
    }
  }
  (std::index_sequence_for<Inputs...>{});
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace opgate_ops
