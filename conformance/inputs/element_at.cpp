#include "inputs/element_at.h"

#include "layouts/geometry.h"

namespace opgate {

std::optional<std::string> element_at(const Arguments& arguments, std::uint64_t address) {
  for (const TensorInput& input : arguments.tensors) {
    if (!input.tensor.defined() || input.tensor.itemsize() == 0) continue;
    const auto begin = reinterpret_cast<std::uint64_t>(input.tensor.storage().data());
    if (address < begin || address - begin >= input.tensor.storage().nbytes()) continue;
    const std::uint64_t element = (address - begin) / input.tensor.itemsize();
    return describe_element(input.geometry, static_cast<int64_t>(element), input.name);
  }
  return std::nullopt;
}

}  // namespace opgate
