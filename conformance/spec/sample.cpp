#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/sample.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"

namespace opgate {

TensorArgument TensorArgument::of(c10::ScalarType fixed) const {
  TensorArgument copy = *this;
  copy.dtype = fixed;
  return copy;
}

Argument::Argument(const std::vector<std::optional<TensorArgument>>& list) {
  std::vector<TensorArgument> entries;
  for (const std::optional<TensorArgument>& entry : list)
    entries.push_back(entry ? *entry : TensorArgument{.is_none = true});
  value_ = std::move(entries);
}

int64_t Sample::tensor_count() const {
  int64_t count = 0;
  for (const Argument& argument : arguments) {
    if (argument.tensor() != nullptr) ++count;
    if (const auto* list = argument.tensors())
      count += std::ranges::count(*list, false, &TensorArgument::is_none);
  }
  return count;
}

namespace {

std::string shape_text(const TensorArgument& tensor) {
  if (tensor.is_none) return "none";
  return tensor.shape.empty() ? "0d" : fmt::format("{}", fmt::join(tensor.shape, "x"));
}

std::string argument_text(const Argument& argument) {
  if (const TensorArgument* tensor = argument.tensor()) return shape_text(*tensor);
  if (const auto* list = argument.tensors()) {
    std::vector<std::string> shapes;
    for (const TensorArgument& tensor : *list) shapes.push_back(shape_text(tensor));
    return fmt::format("[{}]", fmt::join(shapes, ","));
  }
  if (const GeneratorArgument* generator = argument.generator())
    return fmt::format("seed{}", generator->seed);
  if (argument.is_device()) return "device";
  std::ostringstream text;
  text << *argument.other();
  return text.str();
}

std::string with_numbers_in_full(const std::vector<Argument>& arguments) {
  std::vector<std::string> parts;
  for (const Argument& argument : arguments) parts.push_back(argument_text(argument));
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

std::string default_name(const std::vector<Argument>& arguments) {
  return shortest_numbers(with_numbers_in_full(arguments));
}

std::string value_name(const Sample& sample) {
  if (sample.name.find_first_of(".e") == std::string::npos) return sample.name;
  const std::string in_full = with_numbers_in_full(sample.arguments);
  const std::string by_default = shortest_numbers(in_full);
  // Recorded samples of one name are numbered: "2x8,1e-06 (2)".
  return sample.name.starts_with(by_default) ? in_full + sample.name.substr(by_default.size()) : sample.name;
}

}  // namespace opgate
