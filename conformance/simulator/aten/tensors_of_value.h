// The tensors of an argument or a result of an operator, wherever they are in it.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <utility>

namespace opgate::simulator::aten {

/// The value with `convert(tensor)` in the place of each defined tensor, in lists as well. A list keeps the type of its elements:
/// TorchScript makes lists whose elements have types of their own, such as "float tensors of two dimensions".
template <class Convert>
c10::IValue with_tensors(const c10::IValue& value, const Convert& convert) {
  if (value.isTensor()) return value.toTensor().defined() ? convert(value.toTensor()) : value.toTensor();
  if (!value.isList() || value.isIntList() || value.isDoubleList() || value.isBoolList()) return value;
  c10::impl::GenericList list(value.toList().elementType());
  for (const c10::IValue& each : value.toListRef()) list.push_back(with_tensors(each, convert));
  return list;
}

/// Calls `visit` with each defined tensor.
template <class Visit>
void for_each_tensor(const c10::IValue& value, const Visit& visit) {
  with_tensors(value, [&](const at::Tensor& tensor) {
    visit(tensor);
    return tensor;
  });
}

}  // namespace opgate::simulator::aten
