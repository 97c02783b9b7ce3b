#include "compare/widen.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/max.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include "base/tensors_in.h"
#include "compare/float_format.h"

namespace opgate {

c10::ScalarType wide_dtype(const at::Tensor& tensor) {
  return tensor.is_complex() ? c10::kComplexDouble : c10::kDouble;
}

at::Tensor widened(const at::Tensor& tensor, bool absolute) {
  if (!float_format(tensor.scalar_type())) return tensor;
  const at::Tensor wide = tensor.to(wide_dtype(tensor));
  // abs() of a complex tensor is real, but the reference must get a tensor of the complex dtype.
  return absolute ? wide.abs().to(wide.scalar_type()) : wide;
}

c10::IValue widened(const c10::IValue& value, bool absolute) {
  return with_tensors(value, [&](const at::Tensor& tensor) { return widened(tensor, absolute); });
}

c10::IValue with_numbers(const c10::IValue& value,
                         const std::function<at::Tensor(const at::Tensor&)>& change) {
  const auto changed = [&](const at::Tensor& tensor) {
    return tensor.defined() && float_format(tensor.scalar_type()) ? change(tensor) : tensor;
  };
  const auto changed_number = [&](double number) {
    return change(at::scalar_tensor(number, c10::kDouble)).item<double>();
  };
  if (value.isDouble()) return changed_number(value.toDouble());
  if (value.isDoubleList()) {
    c10::List<double> list;
    for (const double number : value.toDoubleVector()) list.push_back(changed_number(number));
    return list;
  }
  return with_tensors(value, changed);
}

at::Tensor largest_magnitude(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return at::zeros({}, tensor.options().dtype(c10::kDouble));
  return tensor.to(wide_dtype(tensor)).abs().nan_to_num(0, 0, 0).max();
}

}  // namespace opgate
