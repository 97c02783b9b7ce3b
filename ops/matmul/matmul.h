// What the kernels of matmul share: the product of two matrices.
#pragma once

#include <ATen/core/Tensor.h>

#include "../common/checks.h"

namespace opgate_ops {

/// The operator, through the dispatcher: a [M, K] times b [K, N], both Half, BFloat16, Float or Double, alike
/// in dtype and device, with any strides; accumulated in Float or Double. The result [M, N] is contiguous; it
/// is 0 where K is. Throws c10::Error on anything else.
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
