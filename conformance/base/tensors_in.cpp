#include "base/tensors_in.h"

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

}  // namespace opgate
