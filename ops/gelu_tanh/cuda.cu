// gelu_tanh and its derivative on CUDA.
#include <ATen/Dispatch.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "../common/elementwise.cuh"
#include "gelu_tanh.h"

namespace opgate_ops {
namespace {

// For half types, which have at most 11 bits, the hardware's approximations of 2^x and of a quotient, both
// accurate to 22 bits, suffice and leave memory the bottleneck. The denominators lie in [1, 2], where
// __fdividef has no special cases.
struct CoarseSigmoid {
  float top, rest, bottom, inner;

  __device__ explicit CoarseSigmoid(float x) {
    constexpr float slope = static_cast<float>(gelu::kSlope), cubic = static_cast<float>(gelu::kCubic);
    constexpr float log2e = 1.44269504f;
    const float square = x * x;
    const float v = slope * x * fmaf(cubic, square, 1.0f);
    const float power = exp2f(-fabsf(v) * log2e);
    top = v < 0 ? power : 1.0f;
    rest = v < 0 ? 1.0f : power;
    bottom = 1.0f + power;
    inner = slope * fmaf(3 * cubic, square, 1.0f);
  }
};

template <bool coarse>
struct Value {
  template <typename T>
  __device__ T operator()(T x) const {
    if constexpr (coarse) {
      const CoarseSigmoid s(gelu::bounded(x));
      return __fdividef(x * s.top, s.bottom);
    } else {
      return gelu::value(x);
    }
  }
};

template <bool coarse>
struct Slope {
  template <typename T>
  __device__ T operator()(T grad, T x) const {
    if constexpr (coarse) {
      x = gelu::bounded(x);
      const CoarseSigmoid s(x);
      return grad * __fdividef(s.top, s.bottom) * fmaf(x * __fdividef(s.rest, s.bottom), s.inner, 1.0f);
    } else {
      return grad * gelu::slope(x);
    }
  }
};

at::Tensor gelu_tanh_cuda(const at::Tensor& x) {
  check_gelu_tanh(x);
  const c10::cuda::CUDAGuard device_guard(x.device());
  at::Tensor out = at::empty_like(x);
  if (x.numel() == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "gelu_tanh", [&] {
    elementwise_cuda<scalar_t>(out, Value<sizeof(scalar_t) == 2>{}, x);
  });
  return out;
}

at::Tensor gelu_tanh_backward_cuda(const at::Tensor& grad, const at::Tensor& x) {
  check_gelu_tanh_backward(grad, x);
  const c10::cuda::CUDAGuard device_guard(x.device());
  at::Tensor out = at::empty_like(x);
  if (x.numel() == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "gelu_tanh_backward", [&] {
    elementwise_cuda<scalar_t>(out, Slope<sizeof(scalar_t) == 2>{}, grad, x);
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) {
  m.impl("gelu_tanh", &opgate_ops::gelu_tanh_cuda);
  m.impl("gelu_tanh_backward", &opgate_ops::gelu_tanh_backward_cuda);
}
