// Converts values to the widest dtype of their kind, as a reference gets them, and measures how large they
// are.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>

namespace opgate {

/// Double, or ComplexDouble for a complex tensor.
c10::ScalarType wide_dtype(const at::Tensor& tensor);

/// A floating tensor as Double, a complex one as ComplexDouble, any other one unchanged. With `absolute`,
/// floating and complex tensors are replaced by their absolute values, in the same wide dtype.
at::Tensor widened(const at::Tensor& tensor, bool absolute = false);

/// Widens a tensor or each tensor of a list; returns any other value unchanged.
c10::IValue widened(const c10::IValue& value, bool absolute = false);

/// The value with `change` of each floating or complex tensor and of each floating number, which `change`
/// gets as a 0-dim Double tensor; those in lists, too. Any other value is returned unchanged.
c10::IValue with_numbers(const c10::IValue& value,
                         const std::function<at::Tensor(const at::Tensor&)>& change);

/// The largest magnitude of the finite elements, as a 0-dim Double tensor on the device of `tensor`; 0 if
/// there is no finite element.
at::Tensor largest_magnitude(const at::Tensor& tensor);

}  // namespace opgate
