#include "judging/refusals/clear_message.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>
#include <string_view>

#include "base/dtypes.h"
#include "device/device.h"
#include "inputs/tensor_slots.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using Kind = BadInput::Kind;

std::string lower(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(), [](unsigned char c) { return std::tolower(c); });
  return copy;
}

bool has_any(const std::string& message, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts,
                             [&](std::string_view part) { return message.find(part) != std::string::npos; });
}

// True if `message` has `word` with no character beside it that could belong to a word, as `inside`
// decides.
template <class Inside>
bool has_word(const std::string& message, std::string_view word, Inside inside) {
  for (auto at = message.find(word); at != std::string::npos; at = message.find(word, at + 1)) {
    const bool before = at > 0 && inside(message[at - 1]);
    const auto end = at + word.size();
    if (!before && (end == message.size() || !inside(message[end]))) return true;
  }
  return false;
}

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
// Only digits belong to a number: "4x8" has a 4 and an 8.
bool in_number(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool names(const std::string& message, const std::string& argument) {
  return argument != "a" && has_word(message, lower(argument), &in_identifier);  // "a" is in every sentence
}

bool names_an_argument(const std::string& message, const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments(),
                             [&](const c10::Argument& argument) { return names(message, argument.name()); });
}

// The sizes, ranks, element counts and lengths of the call's arguments and of the undamaged sample's.
std::set<int64_t> numbers_of(const CallKey& key, const Arguments& arguments) {
  std::set<int64_t> numbers;
  const auto add_shape = [&](c10::IntArrayRef sizes) {
    numbers.insert(sizes.begin(), sizes.end());
    numbers.insert(static_cast<int64_t>(sizes.size()));
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    numbers.insert(count);
  };
  for (const TensorInput& input : arguments.tensors) add_shape(input.geometry.sizes);
  for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) add_shape(slot.described->shape);
  const auto add_value = [&](const c10::IValue& value) {
    if (value.isList()) numbers.insert(static_cast<int64_t>(value.toListRef().size()));
    if (!value.isIntList()) return;
    const std::vector<int64_t> list = value.toIntVector();
    numbers.insert(list.begin(), list.end());
    numbers.insert(static_cast<int64_t>(list.size()));
  };
  for (const c10::IValue& value : arguments.stack) add_value(value);
  return numbers;
}

bool has_number(const std::string& message, int64_t number) {
  return has_word(message, std::to_string(number), &in_number);
}

bool names_a_dtype(const std::string& message, const BadInput& bad, const CallKey& key,
                   const Arguments& arguments) {
  std::set<c10::ScalarType> dtypes{key.dtype};
  for (const TensorInput& input : arguments.tensors) dtypes.insert(input.tensor.scalar_type());
  for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
    if (slot.name == bad.damage.argument) dtypes.insert(dtype_of(*slot.described, key));
  }
  return std::ranges::any_of(dtypes, [&](c10::ScalarType dtype) {
    const std::string name = lower(c10::toString(dtype));
    return has_word(message, name, &in_identifier) ||
           has_word(message, name + "tensor", &in_identifier) ||  // torch.DoubleTensor
           has_word(message, dtype_name(dtype), &in_identifier);
  });
}

bool names_a_device_type(const std::string& message) {
  return std::ranges::any_of(
      device_type_names(), [&](const std::string& name) { return message.find(name) != std::string::npos; });
}

// True if the message has a common name of the fault, which depends on the kind of damage.
bool names_the_fault(const std::string& message, const BadInput& bad) {
  switch (bad.kind) {
    case Kind::absent:
    case Kind::undefined:
      return has_any(message, {"undefined", "defined", "none", "does not have a device", "have storage"});
    case Kind::device:
      return has_any(message, {"device"}) || names_a_device_type(message);
    case Kind::index:
      return has_any(message, {"out of range", "out of bound", "negative"});
    case Kind::group:
      return true;  // it is no mistake of the caller, so any refusal is clear enough
    case Kind::choice:
      return has_any(message, {"not implemented for", "dtype", "memory format", "memory_format", "layout"});
    case Kind::list:
      if (message.find('[') != std::string::npos) return true;  // it shows the list, or one like it
      break;
    case Kind::special:
    case Kind::number:
    case Kind::integer:
    case Kind::text:
    case Kind::flag:
      break;
    case Kind::dtype:
      return has_any(message, {"mixed dtype", "same dtype", "same datatype", "same type"});
    case Kind::shape:
      // "shape mismatch" does not say whose shape is wrong, whereas a wrong rank is seen at once.
      return (bad.damage.kind == InputDamage::Kind::more_dims ||
              bad.damage.kind == InputDamage::Kind::fewer_dims) &&
             has_any(message, {"number of dim", "same rank"});
  }
  const std::string& given = bad.damage.value;
  if (given == "nan") return has_any(message, {"nan", "finite", "not a number"});
  if (given == "inf") return has_any(message, {"inf", "finite", "overflow"});
  if (given == "1j") return has_any(message, {"complex", "imaginary", "converted to type"});
  if (given == "0") return has_any(message, {"zero", "positive", "greater than"});
  if (given == "-1") return has_any(message, {"negative", "positive", "greater than"});
  if (given == kHugeInteger) return true;  // any refusal is clear enough: see clear_message.h
  return bad.damage.kind == InputDamage::Kind::no_entries &&
         has_any(message, {"empty", "at least one", "no elements"});
}

bool shows_the_value(const std::string& message, const BadInput& bad) {
  return !bad.damage.value.empty() && has_word(message, bad.damage.value, &in_identifier);
}

bool shows_what_is_wrong(const std::string& message, const BadInput& bad, const CallKey& key,
                         const Arguments& arguments) {
  const std::set<int64_t> numbers = numbers_of(key, arguments);
  return names_the_fault(message, bad) || shows_the_value(message, bad) ||
         std::ranges::any_of(numbers, [&](int64_t number) { return has_number(message, number); }) ||
         (bad.kind == Kind::dtype && names_a_dtype(message, bad, key, arguments));
}

bool is_the_dispatchers(const std::string& message) {
  return has_any(message, {"could not run '", "no tensor arguments to this function"});
}

}  // namespace

std::optional<std::string> useless_message(const std::string& message) {
  const std::string text = lower(message);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return "the message is empty";
  if (has_any(text, {"internal assert failed", "please report a bug"}))
    return "an internal assert is about the operator's own code, not about the caller's arguments";
  const Accelerator* const device =
      find_accelerator([&](const Accelerator& each) { return each.is_error_of_runtime(message); });
  if (device != nullptr)
    return fmt::format("an assert of a {} kernel names nothing, and leaves the device unusable",
                       device_title(device->type()));
  if (has_any(text, {"vector::_m_range_check", "_map_base::at", "map::at", "array::at",
                     "basic_string::", "bad optional access", "bad_optional_access", "bad variant access",
                     "std::get: wrong index", "bad_function_call", "bad_any_cast", "stoi", "stod",
                     "no std::exception"}) ||
      text == "std::exception") {
    return "the message is the standard library's, and names none of the caller's arguments";
  }
  return std::nullopt;
}

bool names_what_is_wrong(const std::string& message, const BadInput& bad, const CallKey& key,
                         const Arguments& arguments) {
  const std::string text = lower(message);
  return names_an_argument(text, key.spec->op->schema()) || shows_what_is_wrong(text, bad, key, arguments) ||
         is_the_dispatchers(text);
}

std::optional<std::string> lacking_in_message(const std::string& message, const BadInput& bad,
                                              const CallKey& key, const Arguments& arguments) {
  const std::string text = lower(message);
  if (is_the_dispatchers(text) || bad.damage.value == kHugeInteger) return std::nullopt;
  const bool of_several = bad.kind == Kind::shape || bad.kind == Kind::dtype || bad.kind == Kind::device;
  const std::string argument = argument_name(*key.spec, bad.position);
  const bool named = names(text, argument) || ((of_several || shows_the_value(text, bad)) &&
                                               names_an_argument(text, key.spec->op->schema()));
  if (bad.kind == Kind::undefined && (named || names_the_fault(text, bad))) return std::nullopt;
  if (!named && argument != "a") return fmt::format("the message does not name `{}`", argument);
  if (!shows_what_is_wrong(text, bad, key, arguments))
    return fmt::format("the message does not say what is wrong with `{}`: what was given, or what is wanted",
                       argument);
  return std::nullopt;
}

}  // namespace opgate
