// The tensors that a value of any type holds.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <vector>

namespace opgate {

/// The tensor itself, or the tensors inside lists, tuples and dicts, in order, undefined ones included.
/// Tensors inside TorchBind and Python objects are not returned.
std::vector<at::Tensor> tensors_in(const c10::IValue& value);

}  // namespace opgate
