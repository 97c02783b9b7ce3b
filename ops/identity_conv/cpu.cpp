// identity_conv on the CPU: an element-wise kernel by hand, for any strides.
//
// The output is written from its first byte to its last; each thread takes a stretch of it and
// finds out where in x the stretch begins. Elements are moved and never computed with, so a NaN
// keeps its payload.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>

#include "identity_conv.h"

namespace opgate_ops {
namespace {

// Fewer elements than this are not worth a second thread; the figure is that of PyTorch's own
// element-wise kernels.
constexpr int64_t kGrain = 32768;

template <typename scalar_t>
void copy_run(const scalar_t* in, int64_t stride, scalar_t* out, int64_t count) {
  if (stride == 1) {
    std::copy_n(in, count, out);  // a memmove: as fast as the machine copies
  } else if (stride == 0) {
    std::fill_n(out, count, *in);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = in[i * stride];
    }
  }
}

// Writes out[begin, end) as runs along the fastest dimension; the other dimensions turn like an
// odometer between the runs, because a division per element would cost more than the copy. Where x
// is flat, all of [begin, end) is one run.
template <typename scalar_t>
void copy_range(const scalar_t* in, scalar_t* out, const ReadOrder& order, int64_t begin, int64_t end) {
  int64_t index[kMaxKeptDims];
  int64_t offset = 0;
  int64_t rest = begin;
  for (int dim = 0; dim < order.dims; ++dim) {
    index[dim] = rest % order.sizes[dim];
    rest /= order.sizes[dim];
    offset += index[dim] * order.strides[dim];
  }

  int64_t written = begin;
  while (written < end) {
    const int64_t run = std::min(order.sizes[0] - index[0], end - written);
    copy_run(in + offset, order.strides[0], out + written, run);
    written += run;
    index[0] += run;
    offset += run * order.strides[0];
    for (int dim = 0; dim + 1 < order.dims && index[dim] == order.sizes[dim]; ++dim) {
      index[dim] = 0;
      ++index[dim + 1];
      offset += order.strides[dim + 1] - order.sizes[dim] * order.strides[dim];
    }
  }
}

at::Tensor identity_conv_cpu(const at::Tensor& x) {
  check_identity_conv_input(x);
  at::Tensor out = at::empty_like(x);
  if (x.numel() == 0) {
    return out;
  }
  const ReadOrder order = read_order(x, out);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "identity_conv", [&] {
    const auto* from = x.const_data_ptr<scalar_t>();
    auto* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, order.numel, kGrain,
                     [&](int64_t begin, int64_t end) { copy_range(from, to, order, begin, end); });
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) { m.impl("identity_conv", &opgate_ops::identity_conv_cpu); }
