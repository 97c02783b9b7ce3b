// What the kernels of matmul share: the product of two matrices.
#pragma once

#include <ATen/core/Tensor.h>

#include "../common/checks.h"

namespace opgate_ops {

/// Calls the operator through the dispatcher: a [M, K] times b [K, N], both Half, BFloat16, Float or
/// Double, of the same dtype and device, with any strides. Sums are in Float, or in Double for Double. The
/// result [M, N] is contiguous, and all 0 if K is 0. Throws c10::Error for other arguments.
at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);

inline void check_matmul(const at::Tensor& a, const at::Tensor& b) {
  const Named first{"matmul", "a", a}, second{"matmul", "b", b};
  check_floating(first);
  check_like(second, first);
  check_dims(first, 2);
  check_dims(second, 2);
  check_size(second, 0, a.sym_size(1), "the number of columns of a");
}

}  // namespace opgate_ops
