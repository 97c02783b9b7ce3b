// The tensors that a value of any type holds.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <vector>

namespace opgate {

/// The tensor itself, or the tensors inside lists, tuples and dicts, in order, undefined ones included.
/// Tensors inside TorchBind and Python objects are not returned.
std::vector<at::Tensor> tensors_in(const c10::IValue& value);

/// Whether values of this type are Tensor?[]: lists in which None may stand for a tensor.
bool is_list_of_optional_tensors(const c10::TypePtr& type);

/// The value with what `change` returns for each tensor, if it is a tensor, a Tensor[] or a Tensor?[].
/// Otherwise the value as it is.
c10::IValue with_tensors(const c10::IValue& value,
                         const std::function<at::Tensor(const at::Tensor&)>& change);

}  // namespace opgate
