// Values as a reference gets them: in the widest dtype of their kind.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>

namespace opgate {

/// Floating tensors as Double, complex ones as ComplexDouble, others as they are; `absolute` of their
/// absolute values.
inline at::Tensor widened(const at::Tensor& tensor, bool absolute = false) {
  if (!tensor.is_complex() && !tensor.is_floating_point()) return tensor;
  const at::Tensor wide = tensor.to(tensor.is_complex() ? c10::kComplexDouble : c10::kDouble);
  // abs() of a complex tensor is real: the operator's own dtype is kept.
  return absolute ? wide.abs().to(wide.scalar_type()) : wide;
}

}  // namespace opgate
