#include "inputs/tensor_slots.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include "spec/spec.h"

namespace opgate {

std::string argument_name(const Spec& spec, size_t position) {
  if (spec.op) return spec.op->schema().arguments().at(position).name();
  return fmt::format("input{}", position);
}

bool is_mutable(const Spec& spec, size_t position) {
  return spec.op && spec.op->schema().is_mutable({c10::SchemaArgType::input, position});
}

bool can_overlap(const Spec& spec, const TensorSlot& slot) {
  // Nothing in a recording says which values of a large index or offset tensor fit together.
  if (spec.draft && spec.trusted.contains(argument_name(spec, slot.position))) return false;
  const std::string& family = slot.described->domain.family;
  // Integers that are written out one by one, such as starts, lengths or a permutation, are valid only
  // together.
  const bool literal_integers = family == "literal" && slot.described->dtype &&
                                c10::isIntegralType(*slot.described->dtype, /*includeBool=*/false);
  return family != "offsets" && family != "permutation" && !literal_integers &&
         !is_mutable(spec, slot.position);
}

std::vector<TensorSlot> tensor_slots(const Spec& spec, const Sample& sample) {
  std::vector<TensorSlot> slots;
  for (size_t position = 0; position < sample.arguments.size(); ++position) {
    const Argument& argument = sample.arguments[position];
    if (const TensorArgument* tensor = argument.tensor()) {
      slots.push_back({position, std::nullopt, argument_name(spec, position), tensor});
    } else if (const auto* list = argument.tensors()) {
      for (size_t element = 0; element < list->size(); ++element) {
        if ((*list)[element].is_none) continue;
        slots.push_back({position, element, fmt::format("{}[{}]", argument_name(spec, position), element),
                         &(*list)[element]});
      }
    }
  }
  return slots;
}

}  // namespace opgate
