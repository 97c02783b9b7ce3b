#include "base/tensors_in.h"

#include <ATen/core/jit_type.h>

#include <optional>

namespace opgate {

std::vector<at::Tensor> tensors_in(const c10::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  if (value.isTensorList()) return value.toTensorVector();
  std::vector<at::Tensor> tensors;
  value.visit([&](const c10::IValue& part) {
    if (part.isTensor()) tensors.push_back(part.toTensor());
    return part.isObject() || part.isPyObject();
  });
  return tensors;
}

bool is_list_of_optional_tensors(const c10::TypePtr& type) {
  if (type->kind() != c10::TypeKind::ListType) return false;
  const c10::TypePtr& entry = type->castRaw<c10::ListType>()->getElementType();
  return entry->kind() == c10::TypeKind::OptionalType &&
         entry->castRaw<c10::OptionalType>()->getElementType()->kind() == c10::TypeKind::TensorType;
}

c10::IValue with_tensors(const c10::IValue& value,
                         const std::function<at::Tensor(const at::Tensor&)>& change) {
  if (value.isTensor()) return change(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(change(tensor));
    return list;
  }
  if (value.isNone() || !is_list_of_optional_tensors(value.type())) return value;
  c10::List<std::optional<at::Tensor>> list;
  for (const c10::IValue& entry : value.toListRef())
    list.push_back(entry.isNone() ? std::nullopt : std::optional(change(entry.toTensor())));
  return list;
}

}  // namespace opgate
