// Elements of tensors in memory, and their parts as doubles.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/complex.h>

#include "base/dtypes.h"

namespace opgate {

/// The same values in a contiguous CPU tensor without lazy conjugation or negation; `tensor` itself if it
/// is one already.
inline at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) return tensor;
  return tensor.resolve_conj().resolve_neg().to(c10::kCPU).contiguous();
}

/// The parts of one element as doubles, which is exact. `imag` is 0 for a real number.
struct Parts {
  double real;
  double imag;
};

template <FloatingElement T>
Parts parts_of(const T& element) {
  if constexpr (c10::is_complex<T>::value) {
    return {static_cast<double>(element.real()), static_cast<double>(element.imag())};
  } else {
    return {static_cast<double>(element), 0};
  }
}

}  // namespace opgate
