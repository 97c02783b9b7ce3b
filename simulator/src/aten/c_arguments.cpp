#include "aten/c_arguments.h"

#include <torch/csrc/inductor/aoti_torch/utils.h>

#include <algorithm>
#include <string>
#include <vector>

namespace opgate::simulator::aten {
namespace {

using c10::TypeKind;
using torch::aot_inductor::generator_handle_to_generator_pointer;
using torch::aot_inductor::new_tensor_handle;
using torch::aot_inductor::tensor_handle_to_tensor_pointer;

template <class T>
const T& at_address(const void* address) {
  return *static_cast<const T*>(address);
}

// The C value at an address: an argument itself, an element of a list, or what a pointer to an optional value
// points to.
c10::IValue value_at(const c10::Type& type, const void* address) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return *tensor_handle_to_tensor_pointer(at_address<AtenTensorHandle>(address));
    case TypeKind::GeneratorType:
      return *generator_handle_to_generator_pointer(at_address<AtenGeneratorHandle>(address));
    case TypeKind::BoolType:
      return at_address<std::int32_t>(address) != 0;
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      return static_cast<std::int64_t>(at_address<std::int32_t>(address));
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return at_address<std::int64_t>(address);
    case TypeKind::FloatType:
    case TypeKind::NumberType:
      return at_address<double>(address);
    case TypeKind::StringType:
      return std::string(at_address<const char*>(address));
    case TypeKind::OptionalType: {
      const void* const value = at_address<const void*>(address);
      return value == nullptr ? c10::IValue() : value_at(*type.containedType(0), value);
    }
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "a C shim cannot take ", type.str());
  }
}

std::size_t bytes_of(const c10::Type& element) {
  return element.kind() == TypeKind::BoolType ? sizeof(std::int32_t) : sizeof(std::int64_t);
}

c10::IValue list_at(const c10::TypePtr& element, const void* elements, std::int64_t length) {
  const bool is_symbolic = element->kind() == TypeKind::SymIntType;
  c10::impl::GenericList list(is_symbolic ? c10::TypePtr(c10::IntType::get()) : element);
  const std::size_t bytes = bytes_of(*element);
  for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
    list.push_back(value_at(*element, static_cast<const char*>(elements) + i * bytes));
  return list;
}

// A list and a device are two arguments of the C function each.
c10::IValue take(const c10::Type& type, std::span<const CArgument>& given) {
  const bool optional = type.kind() == TypeKind::OptionalType;
  const c10::Type& inner = optional ? *type.containedType(0) : type;
  const CArgument& first = given[0];
  const bool is_list = inner.kind() == TypeKind::ListType,
             is_device = inner.kind() == TypeKind::DeviceObjType;
  if (!is_list && !is_device) {
    given = given.subspan(1);
    return value_at(type, &first);
  }
  const CArgument& second = given[1];
  given = given.subspan(2);
  if (optional && first.pointer == nullptr) return {};
  if (is_list)
    return list_at(inner.containedType(0), optional ? at_address<const void*>(first.pointer) : first.pointer,
                   second.large);
  const std::int32_t kind = optional ? at_address<std::int32_t>(first.pointer) : first.small;
  return c10::Device(static_cast<c10::DeviceType>(kind), static_cast<c10::DeviceIndex>(second.small));
}

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

std::size_t count_given_results(const c10::FunctionSchema& schema) {
  return static_cast<std::size_t>(std::ranges::count_if(
      schema.returns(), [](const c10::Argument& result) { return !is_written(result); }));
}

}  // namespace

torch::jit::Stack arguments_from_c(const c10::FunctionSchema& schema, std::span<const CArgument> given) {
  given = given.first(given.size() - count_given_results(schema));
  torch::jit::Stack stack(schema.arguments().size());
  // C functions take an operator's `out` first.
  for (const bool out : {true, false}) {
    for (std::size_t i = 0; i < stack.size(); ++i) {
      const c10::Argument& argument = schema.arguments()[i];
      if ((argument.kwarg_only() && is_written(argument)) != out) continue;
      stack[i] = given.empty() ? argument.default_value().value_or(c10::IValue())
                               : take(*argument.real_type(), given);
    }
  }
  return stack;
}

void results_to_c(const c10::FunctionSchema& schema, torch::jit::Stack& stack,
                  std::span<const CArgument> given) {
  given = given.last(count_given_results(schema));
  const std::size_t first = stack.size() - schema.returns().size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    if (is_written(schema.returns()[i])) continue;
    void* const to = const_cast<void*>(given[next++].pointer);
    c10::IValue& result = stack[first + i];
    if (to == nullptr) continue;
    if (result.isTensor())
      *static_cast<AtenTensorHandle*>(to) = new_tensor_handle(std::move(result).toTensor());
    else
      *static_cast<std::int64_t*>(to) = result.toInt();
  }
}

}  // namespace opgate::simulator::aten
