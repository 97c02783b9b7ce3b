// identity_conv on CUDA: an element-wise kernel by hand, for any strides, written to be copied.
//
// The host side keeps one order: checks, device guard, allocation, empty early return, stream,
// launch, launch check. It uses c10's CUDA headers only, so that the library does not need
// libtorch_cuda to link.
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>

#include "../common/launch.cuh"
#include "identity_conv.h"

namespace opgate_ops {
namespace {

// 16 bytes a load and store. Both pointers are aligned to 16 bytes; the bytes after the last full
// vector are `tail` many.
__global__ void __launch_bounds__(kThreads)
    copy_vectors(const uint4* __restrict__ in, uint4* __restrict__ out, int64_t vectors, int tail) {
  for (int64_t i = first_index(); i < vectors; i += index_step()) {
    out[i] = in[i];
  }
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < tail) {
    reinterpret_cast<char*>(out + vectors)[threadIdx.x] =
        reinterpret_cast<const char*>(in + vectors)[threadIdx.x];
  }
}

// Neighbouring threads write neighbouring elements of the output, and read x wherever its strides
// say.
template <typename scalar_t>
__global__ void __launch_bounds__(kThreads)
    copy_strided(const scalar_t* __restrict__ in, scalar_t* __restrict__ out,
                 const __grid_constant__ ReadOrder order) {
  for (int64_t i = first_index(); i < order.numel; i += index_step()) {
    int64_t rest = i;
    int64_t offset = 0;
    for (int dim = 0; dim + 1 < order.dims; ++dim) {
      const int64_t next = rest / order.sizes[dim];
      offset += (rest - next * order.sizes[dim]) * order.strides[dim];
      rest = next;
    }
    offset += rest * order.strides[order.dims - 1];
    out[i] = in[offset];
  }
}

bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % sizeof(uint4) == 0; }

at::Tensor identity_conv_cuda(const at::Tensor& x) {
  check_identity_conv_input(x);
  const c10::cuda::CUDAGuard device_guard(x.device());
  at::Tensor out = at::empty_like(x);
  if (x.numel() == 0) {
    return out;
  }
  const ReadOrder order = read_order(x, out);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const void* from = x.const_data_ptr();
  void* to = out.mutable_data_ptr();
  if (order.is_flat() && is_aligned(from) && is_aligned(to)) {
    const int64_t bytes = order.numel * x.element_size();
    const int64_t vectors = bytes / static_cast<int64_t>(sizeof(uint4));
    const int tail = static_cast<int>(bytes % static_cast<int64_t>(sizeof(uint4)));
    copy_vectors<<<blocks_for(vectors), kThreads, 0, stream>>>(static_cast<const uint4*>(from),
                                                               static_cast<uint4*>(to), vectors, tail);
  } else {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "identity_conv", [&] {
      copy_strided<<<blocks_for(order.numel), kThreads, 0, stream>>>(static_cast<const scalar_t*>(from),
                                                                     static_cast<scalar_t*>(to), order);
    });
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) { m.impl("identity_conv", &opgate_ops::identity_conv_cuda); }
