// What the kernels of sin_out share. It is an operator that writes to its argument.
#pragma once

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>

#include <cmath>

#include "../common/checks.h"

namespace opgate_ops {

/// Calls the operator through the dispatcher: output = sin(input), element by element. Both are Half,
/// BFloat16, Float or Double, of the same dtype, device and sizes, with any strides. They may share memory;
/// input is then read first. Throws c10::Error for other arguments, and if elements of output share memory.
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
