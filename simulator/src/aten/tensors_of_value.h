// The tensors of an argument or a result of an operator, wherever they are in it.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace opgate::simulator::aten {

/// The value with `convert(tensor)` instead of each defined tensor, in lists as well. A list keeps the
/// type of its elements: TorchScript makes lists whose elements have types of their own, such as "float
/// tensors of two dimensions".
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

/// The devices of the tensors, as of a copy between two devices, other than the one on whose stream the call
/// is made.
inline std::vector<c10::Device> other_devices(const c10::IValue* arguments, std::size_t count,
                                              c10::Device device) {
  std::vector<c10::Device> others;
  for (std::size_t i = 0; i < count; ++i) {
    for_each_tensor(arguments[i], [&](const at::Tensor& tensor) {
      if (tensor.is_cuda() && tensor.device() != device) others.push_back(tensor.device());
    });
  }
  return others;
}

}  // namespace opgate::simulator::aten
