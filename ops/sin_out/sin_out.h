// What the kernels of sin_out share: an operator that writes into its argument.
#pragma once

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>

#include <cmath>

#include "../common/checks.h"

namespace opgate_ops {

/// The operator, through the dispatcher: output = sin(input), element by element. Both are Half, BFloat16,
/// Float or Double, alike in dtype, device and sizes, with any strides; they may share memory: input is then
/// read first. Throws c10::Error on anything else, and where elements of output share memory.
void sin_out(const at::Tensor& input, const at::Tensor& output);

inline void check_sin_out(const at::Tensor& input, const at::Tensor& output) {
  const Named from{"sin_out", "input", input}, to{"sin_out", "output", output};
  check_floating(from);
  check_like(to, from);
  check_same_sizes(to, from);
}

struct Sine {
  template <typename T>
  C10_HOST_DEVICE T operator()(T x) const {
    return std::sin(x);
  }
};

}  // namespace opgate_ops
