// Elements of tensors in memory, and their parts as doubles.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/complex.h>

#include <type_traits>

#include "base/dtypes.h"

namespace opgate {

/// The same values, contiguous in the host's memory and without lazy conjugation or negation; `tensor` itself
/// where it is so already.
inline at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) return tensor;
  return tensor.resolve_conj().resolve_neg().to(c10::kCPU).contiguous();
}

/// A C++ type that holds a floating-point number, real or complex: one of those that have a FloatFormat.
template <class T>
concept FloatingElement = !std::is_integral_v<T> && !Opaque<T>;

/// The parts of one element as doubles, exactly: two of a complex number; the second is 0 of a real one.
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
